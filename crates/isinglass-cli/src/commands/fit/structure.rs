//! The structure of the machine to be fitted, from the options.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use isinglass::Table;
use isinglass::topology::Links;
use isinglass_files::read_edges;
use isinglass_plan::Hidden;

use crate::options::split_list;

/// Which units there are and how they are joined.
#[derive(Args)]
pub(in crate::commands) struct Structure {
    /// Links among the table's columns: none, chain, tree (Chow–Liu: the one of largest mutual
    /// information; inputs are joined with all the others), full, grid:RxC, grid8:RxC, edges:FILE
    /// (a CSV of two names a line)
    #[arg(long, value_name = "LINKS", default_value = "full")]
    visible_links: VisibleLinks,
    /// Hidden units, joined with every column; or layers of them, each joined with the one before; or
    /// auto: added to a machine without, while held-out rows get more probable
    #[arg(long, value_name = "N|N,M,…|auto", default_value = "0", allow_hyphen_values = true)]
    pub(in crate::commands) hidden: Hidden,
    /// Links among the hidden units of a layer: none, chain, full
    #[arg(long, value_name = "LINKS", default_value = "none")]
    hidden_links: Links,
    /// Columns that are given: their own distribution is not learned
    #[arg(long, value_name = "COLUMN,…")]
    inputs: Option<String>,
}

#[derive(Clone)]
enum VisibleLinks {
    Built(Links),
    /// Learned from the table.
    Tree,
    File(PathBuf),
}

impl FromStr for VisibleLinks {
    type Err = isinglass::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "tree" {
            return Ok(Self::Tree);
        }
        match text.strip_prefix("edges:") {
            Some("") => Err(isinglass::Error::invalid("links", "edges: needs the name of a file behind it")),
            Some(path) => Ok(Self::File(path.into())),
            None => text.parse().map(Self::Built).map_err(|_: isinglass::Error| {
                let expected = "none, chain, tree, full, grid:RxC, grid8:RxC or edges:FILE";
                isinglass::Error::invalid("links", format!("found '{text}', expected {expected}"))
            }),
        }
    }
}

impl Structure {
    /// The file of links, if there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.visible_links {
            VisibleLinks::File(path) => Some(path),
            VisibleLinks::Built(_) | VisibleLinks::Tree => None,
        }
    }

    /// The request; a file of links is read.
    pub(in crate::commands) fn of(&self, table: &Table) -> anyhow::Result<isinglass_plan::Structure> {
        Ok(isinglass_plan::Structure {
            visible_links: match &self.visible_links {
                VisibleLinks::Built(links) => isinglass_plan::VisibleLinks::Built(links.clone()),
                VisibleLinks::Tree => isinglass_plan::VisibleLinks::Tree,
                VisibleLinks::File(path) => {
                    isinglass_plan::VisibleLinks::Given(read_edges(path)?.graph_over(table.columns())?)
                }
            },
            hidden: self.hidden.clone(),
            hidden_links: self.hidden_links.clone(),
            inputs: self.inputs.as_deref().map(split_list).unwrap_or_default(),
        })
    }
}

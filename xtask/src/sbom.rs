//! A bill of materials in the form of CycloneDX 1.5, from the lock file: every crate that a build of
//! the program or the Python package uses, with its licence, its checksum and what it depends on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::say;

/// Where it is written.
const FILE: &str = "target/sbom.cdx.json";

/// The crates that are shipped.
const SHIPPED: [&str; 2] = ["isinglass-cli", "isinglass-python"];

/// Writes the bill of materials.
pub(crate) fn run() -> Result<(), String> {
    let metadata = metadata()?;
    let lock = std::fs::read_to_string("Cargo.lock").map_err(|error| format!("Cargo.lock: {error}"))?;
    let bill = bill(&metadata, &checksums(&lock))?;
    let count = bill["components"].as_array().map_or(0, Vec::len);
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    if let Some(folder) = Path::new(FILE).parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::write(FILE, text + "\n").map_err(|error| format!("{FILE}: {error}"))?;
    say(&format!("{count} crates in {FILE}"));
    Ok(())
}

/// What cargo says of all packages and of what each uses.
fn metadata() -> Result<Value, String> {
    let line = ["metadata", "--format-version", "1", "--locked"];
    let output = Command::new("cargo").args(line).output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The checksums in a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|text| text.trim_end_matches('"').to_owned())
    };
    let of_block = |block: &str| {
        let key = (value(block, "name")?, value(block, "version")?);
        Some((key, value(block, "checksum")?))
    };
    lock.split("[[package]]").filter_map(of_block).collect()
}

/// The text of a field; empty if there is none.
fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or_default()
}

fn list(of: &Value) -> &[Value] {
    of.as_array().map_or(&[], Vec::as_slice)
}

/// The crates that a node of cargo's graph needs in a build, without those of its tests.
fn needs(node: &Value) -> impl Iterator<Item = &str> {
    let is_needed = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
    list(&node["deps"]).iter().filter(is_needed).map(|dep| text(dep, "pkg"))
}

/// Whatever the shipped crates use, however far away.
fn used<'a>(nodes: &BTreeMap<&'a str, &'a Value>, roots: Vec<&'a str>) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), roots);
    while let Some(id) = open.pop() {
        if found.insert(id)
            && let Some(node) = nodes.get(id)
        {
            open.extend(needs(node));
        }
    }
    found
}

/// The bill.
fn bill(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Result<Value, String> {
    let packages = list(&metadata["packages"]);
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).iter().map(|node| (text(node, "id"), node)).collect();
    let is_shipped = |package: &&Value| SHIPPED.contains(&text(package, "name"));
    let roots: Vec<&str> = packages.iter().filter(is_shipped).map(|package| text(package, "id")).collect();
    if roots.len() != SHIPPED.len() {
        return Err(format!("expected the crates {}", SHIPPED.join(", ")));
    }
    let used = used(&nodes, roots);
    let component = |package: &Value| {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let mut component = json!({
            "type": "library",
            "bom-ref": text(package, "id"),
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
        });
        if let Some(licence) = package["license"].as_str() {
            // An older way to write OR.
            component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(sum) = checksums.get(&(name.to_owned(), version.to_owned())) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        component
    };
    let in_bill = packages.iter().filter(|package| used.contains(text(package, "id")));
    let version = packages.iter().find(|package| text(package, "name") == SHIPPED[0]);
    let depends = used.iter().filter_map(|id| {
        let node = nodes.get(id)?;
        Some(json!({ "ref": id, "dependsOn": needs(node).collect::<BTreeSet<_>>() }))
    });
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "isinglass",
                "version": version.map_or("", |package| text(package, "version")),
            },
        },
        "components": in_bill.map(component).collect::<Vec<_>>(),
        "dependencies": depends.collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_is_listed_and_what_only_tests_use_is_not() {
        let package =
            |name: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0" });
        let dep = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package("isinglass-cli"), package("isinglass-python"), package("far"), package("tests")],
            "resolve": { "nodes": [
                { "id": "isinglass-cli", "deps": [dep("far", Value::Null), dep("tests", json!("dev"))] },
                { "id": "isinglass-python", "deps": [dep("isinglass-cli", Value::Null)] },
                { "id": "far", "deps": [] },
                { "id": "tests", "deps": [] },
            ] },
        });
        let lock = "[[package]]\nname = \"far\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        let bill = bill(&metadata, &checksums(lock)).unwrap();
        let names: Vec<&str> = list(&bill["components"]).iter().map(|found| text(found, "name")).collect();
        assert_eq!(names, ["isinglass-cli", "isinglass-python", "far"]);
        assert_eq!(bill["components"][2]["hashes"][0]["content"], "abc");
        assert_eq!(bill["components"][2]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["dependencies"][1], json!({ "ref": "isinglass-cli", "dependsOn": ["far"] }));
    }
}

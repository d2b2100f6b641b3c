//! What linkers must know of an extension module, whose symbols of Python are found when it is
//! loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}

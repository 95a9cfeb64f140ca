//! Changes block files of a graph and makes all checksums right.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fs;
use std::io::Write;
use std::path::Path;

use tegula_machine::disk::BlockFileWriter;
use tegula_testkit::edit_manifest;

/// Writes a new payload of a block file, and makes its checksums and the manifest's right.
pub fn reseal(directory: &Path, name: &str, payload: &[u8], block_log2: u32) {
    let path = directory.join(name);
    let file = fs::File::create(&path).unwrap();
    let mut writer = BlockFileWriter::new(file, &path, block_log2);
    writer.write_all(payload).unwrap();
    let summary = writer.finish().unwrap();
    rewrite_manifest(directory, |manifest| {
        for file in manifest["files"].as_array_mut().unwrap() {
            if file["name"] == name {
                file["bytes"] = summary.file_len.into();
                file["checksum"] = summary.footer_crc.into();
            }
        }
    });
}

/// Changes a manifest and its checksum.
pub fn rewrite_manifest(directory: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    edit_manifest(directory, |body| {
        let mut manifest = serde_json::from_str(&format!("{body}}}")).unwrap();
        change(&mut manifest);
        let json = serde_json::to_string_pretty(&manifest).unwrap();
        json.strip_suffix("\n}").unwrap().to_owned()
    });
}

/// Returns the payload of a block file.
pub fn payload(directory: &Path, name: &str) -> Vec<u8> {
    let bytes = fs::read(directory.join(name)).unwrap();
    let trailer = &bytes[bytes.len() - 32..];
    let len = u64::from_le_bytes(trailer[16..24].try_into().unwrap());
    bytes[..len as usize].to_vec()
}

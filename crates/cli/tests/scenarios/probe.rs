//! `probe`.

use crate::shop::{Shop, assert_shape};

#[test]
fn a_device_is_probed_and_remembered() {
    let shop = Shop::new();
    shop.write("file", vec![1; 4 << 20]);
    let probe = shop.tegula("probe file --json").done().json();
    assert_shape(
        &probe,
        &[
            ("schema", "string"),
            ("device", "string"),
            ("random", "array"),
            ("sequential", "array"),
            ("targets", "object"),
            ("seconds", "number"),
            ("remembered", "string"),
        ],
    );
    assert_eq!(probe["schema"], "tegula.probe.v1");
    assert_eq!(probe["random"][7]["in_flight"], 128);
    let known = String::from_utf8(shop.read("cache/tegula/devices.json")).unwrap();
    assert!(known.contains(probe["device"].as_str().unwrap()), "{known}");
    assert_eq!(shop.names(), ["cache", "file"]);
}

#[test]
fn a_person_sees_the_curve_and_what_is_chosen() {
    let shop = Shop::new();
    shop.write("file", vec![1; 4 << 20]);
    let said = shop.tegula("probe file --io threads").done();
    let chosen = said.out.lines().filter(|line| line.ends_with(" <")).count();
    assert_eq!(chosen, 2, "{}", said.out);
    assert!(said.out.contains("random reads in flight"), "{}", said.out);
    assert_eq!(shop.names(), ["file"], "threads are only looked at");
}

#[test]
fn a_file_that_cannot_be_probed_is_named() {
    let shop = Shop::new();
    shop.tegula("probe nowhere").failed(3, &["nowhere"]);
    shop.write("short", "x");
    let said = shop.tegula("probe short").failed(3, &["short", "less than a page", "larger file"]);
    assert!(!said.err.contains("import") && !said.err.contains("damaged"), "{}", said.err);
    assert!(shop.tegula("probe --help").done().out.contains("devices.json"));
}

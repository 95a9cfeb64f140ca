//! The page about `--json` names every field.

use serde_json::Value;

use crate::shop::Shop;

const PAGE: &str = include_str!("../../../../docs/JSON.md");

/// Fields whose names are data: layouts, stages, files, and figures of an answer.
const FREE: [&str; 5] = ["bytes_per_edge", "stage_seconds", "files", "summary", "order_choice"];

/// Asserts that the page names the fields of an object, and of the objects in it.
fn assert_named(value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                assert!(PAGE.contains(&format!("`{name}`")) || name == "schema", "{name}");
                if !FREE.contains(&name.as_str()) {
                    assert_named(value);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(assert_named),
        _ => {}
    }
}

#[test]
fn the_page_about_json_names_every_field() {
    let shop = Shop::new();
    shop.write("sources.txt", "0\n");
    shop.write("jobs.jsonl", r#"{"algorithm": "wcc"}"#);
    for words in [
        "generate grid --width 9 --height 9 -o g.el",
        "import g.el -o g.tegula --undirected --layouts tiles,rows",
        "info g.tegula",
        "verify g.tegula",
        "export g.tegula -o e.csv",
        "run pagerank g.tegula -o r.csv",
        "run pagerank g.tegula --personalize sources.txt",
        "run pagerank g.tegula --estimate",
        "run --batch jobs.jsonl g.tegula -o out",
        "run --batch jobs.jsonl g.tegula --estimate",
        "partition g.tegula --ranks 2 -o cut",
        "info cut/rank-0.tegula",
        "run pagerank cut --ranks 2",
        "gather cut -o back.tegula",
        "completions bash",
    ] {
        let said = shop.tegula(&format!("{words} --json")).done();
        for line in said.out.lines() {
            let object: Value = serde_json::from_str(line).unwrap();
            let schema = object["schema"].as_str().unwrap();
            assert!(PAGE.contains(&format!("`{schema}`")), "{schema}");
            assert_named(&object);
        }
    }
    let failed = shop.tegula("run pagerank none.tegula --json").json();
    assert_named(&failed);
}

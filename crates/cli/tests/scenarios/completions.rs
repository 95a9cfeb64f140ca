//! Scripts for the completion of words in shells.

use crate::shop::{Shop, has_program};

#[test]
fn every_shell_knows_commands_algorithms_and_options() {
    let shop = Shop::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = shop.tegula(&format!("completions {shell}")).done().out;
        for word in ["import", "betweenness", "topological-order", "samples", "spill-directory"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let object = shop.tegula(&format!("completions {shell} --json")).done().json();
        assert_eq!(object["schema"], "tegula.completions.v1");
        assert_eq!(
            (object["shell"].as_str(), object["script"].as_str()),
            (Some(shell), Some(&*script))
        );
    }
    shop.tegula("completions tcsh").failed(2, &["tcsh", "bash"]);
}

#[test]
fn bash_completes_the_name_of_an_algorithm() {
    if !has_program("bash") {
        return;
    }
    let shop = Shop::new();
    shop.write("script", shop.tegula("completions bash").done().out);
    let line = "bash -c 'source ./script; COMP_WORDS=(tegula run betw); COMP_CWORD=2; \
                _tegula tegula betw run; echo ${COMPREPLY[@]}'";
    assert_eq!(shop.shell(line).done().out, "betweenness\n");
}

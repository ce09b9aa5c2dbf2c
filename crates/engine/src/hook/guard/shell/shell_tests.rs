//! What a command writes, seen through every part of the grammar, and what reading it may cost.

use super::steps::STEPS_MAX;
use super::*;
use proptest::prelude::*;

fn written(command: &str) -> Vec<String> {
    let seen = look(command, Path::new("/p"), Some(Path::new("/p")));
    assert!(!seen.gave_up, "{command}");
    seen.targets.into_iter().map(|target| target.cwd.join(target.path).display().to_string()).collect()
}

#[test]
fn redirections_are_seen() {
    for command in [
        "echo x > m/a",
        "echo x>m/a",
        "echo x >> m/a",
        "echo x >| m/a",
        "echo x &> m/a",
        "echo x 2> m/a",
        "echo x >& m/a",
        "cat > \"m/a\" <<'EOF'\n{}\nEOF",
        "cat <<EOF > m/a\n> other\nEOF",
        "true && (echo x > 'm/a')",
        "x=$(echo y > m/a)",
        "if true; then echo x > m/a; fi",
        "echo x \\\n > m/a",
    ] {
        assert_eq!(written(command), ["/p/m/a"], "{command}");
    }
}

#[test]
fn commands_that_write_are_seen() {
    for command in [
        "tee -a m/a",
        "echo x | sudo -n tee m/a",
        "cp b m/a",
        "cp -t m/a b c",
        "/usr/bin/touch m/a",
        "dd if=x of=m/a",
        "rm -rf m/a",
        "LANG=C rm m/a",
        "sed -i s/a/b/ m/a",
        "mv m/a b",
        "cd m && echo x > a",
        "bash -lc 'cd m; echo x > a'",
    ] {
        assert!(written(command).contains(&"/p/m/a".to_owned()), "{command}");
    }
}

#[test]
fn reading_and_talking_write_nothing() {
    for command in [
        "cat m/a",
        "grep x < m/a",
        "echo '> m/a'",
        "echo \"> m/a\"",
        "cat <<EOF\necho x > m/a\nEOF",
        "heirloom record write --target m/a",
        "ls m/a 2>&1",
        "# echo x > m/a",
        "sed -n 1p m/a",
        "[[ a > m/a ]]",
        "echo $(( 3 > 2 )) $((1 << 2))",
        "python3 -c \"print(open('m/a').read())\"",
        "",
    ] {
        assert_eq!(written(command), [""; 0], "{command}");
    }
}

#[test]
fn a_script_is_expanded_before_it_is_judged() {
    for (command, path) in [
        ("d=m; echo > $d/a", "/p/m/a"),
        ("d=m; d+=/n; echo > ${d}/a", "/p/m/n/a"),
        ("echo > ${x:-m}/a", "/p/m/a"),
        ("d=m/n.x; echo > ${d%.*}", "/p/m/n"),
        ("d=m/n/x; echo > ${d%%/*}", "/p/m"),
        ("d=m/n/x; echo > ${d##*/}", "/p/x"),
        ("echo > {m,n}/a", "/p/n/a"),
        ("echo > m{1..3}", "/p/m2"),
        ("echo > ~/a", "/p/a"),
        ("echo > $'m\\x2fa'", "/p/m/a"),
        ("echo > $(dirname m/a)/b", "/p/m/b"),
        ("f() { echo > $2; }; f a m/a", "/p/m/a"),
        ("a=(x m/a); echo > ${a[1]}", "/p/m/a"),
        ("set -- x m/a; echo > $2", "/p/m/a"),
    ] {
        assert!(written(command).contains(&path.to_owned()), "{command}: {:?}", written(command));
    }
}

/// Texts that grow when they are read: nesting, products, doubling, recursion.
fn hostile(n: usize) -> Vec<String> {
    let around = |open: &str, close: &str| format!("{}x{}", open.repeat(n), close.repeat(n));
    vec![
        around("$(", ")"),
        around("(", ")"),
        around("((", "))"),
        around("\"$(", ")\""),
        around("${a:-", "}"),
        around("{a,", "}"),
        "{a,b}".repeat(n),
        "{".repeat(n),
        "`".repeat(n),
        "\\`".repeat(n),
        "cd a;".repeat(n),
        "cd ..; cd b/c;".repeat(n),
        format!("x=ab;{} touch $x", "x=$x$x;".repeat(n)),
        format!("set -- {}; {}", "a ".repeat(n), "$(a)".repeat(n)),
        format!("echo {} {}", "a".repeat(n), "| cat".repeat(n)),
        format!("{} a0", (0..n).map(|i| format!("a{i}() {{ a{0}; a{0}; }};", i + 1)).collect::<String>()),
        "f() { f; f; }; f;".repeat(n),
        "f() {".repeat(n),
        "cat <<E\n".repeat(n),
        "sh -c '".repeat(n),
        "eval eval ".repeat(n),
        "sudo ".repeat(n),
        "case x in ".repeat(n),
        "ln -s a b;".repeat(n),
        format!("find {} {}", "a ".repeat(n), "-name b ".repeat(n)),
        format!("echo {} | xargs -I{{}} touch {{}}", "a ".repeat(n)),
        format!("f() {{ {} }}; f", "f; ".repeat(n.min(1_000))),
        format!("python3 -c \"{}open('w')\"", "'a'+".repeat(n)),
        format!("for a in {}; do for b in {}; do touch $a/$b; done; done", "x ".repeat(n), "y ".repeat(n)),
        format!("touch {}", "*[".repeat(n)),
    ]
}

#[test]
fn no_command_costs_more_than_its_steps() {
    for n in [1, 10, 100, 1_000, 5_000] {
        for command in hostile(n) {
            let seen = look(&command, Path::new("/p"), Some(Path::new("/p")));
            assert!(seen.steps <= STEPS_MAX && seen.targets.len() < 20_000, "{n}: {:.60}", command);
        }
    }
}

#[test]
fn a_command_that_is_merely_long_costs_in_proportion() {
    let steps = |n: usize| look(&"grep -rn x src > out; ".repeat(n), Path::new("/p"), None).steps;
    assert!(steps(400) <= 4 * steps(100) + 100, "{} {}", steps(100), steps(400));
}

proptest! {
    #[test]
    fn any_text_is_read_to_its_end(command in "[ a-z>&|<'\"\\\\\n$()`;#é0-9{},*?\\[\\]=~/.:%!-]{0,200}") {
        let seen = look(&command, Path::new("/p"), Some(Path::new("/p")));
        prop_assert!(seen.steps <= STEPS_MAX);
    }

    #[test]
    fn any_nesting_of_quotes_and_commands_is_read_to_its_end(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "$(", ")", "${a:-", "}", "\"", "'", "`", "((", "))", "{", ",", "<<E\n", "\nE\n", "<(", ">(", "eval ", "sh -c ", "f() {", "; f;",
                "x=", "$x", "$@", "xargs ", "find . -exec ", "\\;", "| ", "for x in ", "; do ", "; done", "case ", " in ", ";;", "esac", "cd ", "*", "a",
                "python3 -c ", "sed -i ", "git -C ", "ln -s ", "-t ", "tar x", "&&", "[[", "\\", "\n", "é",
            ]),
            0..60,
        ),
    ) {
        let seen = look(&parts.concat(), Path::new("/p"), Some(Path::new("/p")));
        prop_assert!(seen.steps <= STEPS_MAX);
    }
}

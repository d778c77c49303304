//! Shared objects that are no plug-ins, or broken ones: each is refused with a sentence that says what is wrong.

use std::path::PathBuf;
use std::process::Command;

use posthaste_os::plugin::Plugin;

/// Compiles a few lines of C into a shared object; `None` without a C compiler.
fn compiled(name: &str, text: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, file) = (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
    std::fs::write(&source, format!("#include <posthaste_method.h>\n{text}\n")).unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../posthaste-abi/include");
    let compiler =
        Command::new("cc").args(["-shared", "-fPIC", "-I", include, "-o"]).arg(&file).arg(&source).output();
    let Ok(said) = compiler.inspect_err(|why| println!("omitted: no C compiler: {why}")) else { return None };
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    file.into_os_string().into_string().ok()
}

fn refused(name: &str, text: &str, sentence: &str) {
    let Some(file) = compiled(name, text) else { return };
    let why = Plugin::load(&file).unwrap_err();
    assert_eq!(why, sentence.replace("FILE", &file));
}

/// Everything but what `fields` leave out.
fn table(fields: &str) -> String {
    format!(
        "static void *open_(const posthaste_job *j, char *w) {{ (void)j; w[0] = 'n'; w[1] = 'o'; return 0; }}\n\
         static const char *address(void *s) {{ (void)s; return 0; }}\n\
         static int connect_(void *s, uint32_t p, const char *a, char *w) {{ return s || p || a || w; }}\n\
         static int send_(void *s, uint32_t p, const posthaste_piece *q, size_t n) {{ return s || p || q || n; }}\n\
         static int poll_(void *s, const posthaste_receiver *r) {{ return s || r; }}\n\
         static int flush(void *s) {{ return s != 0; }}\n\
         static void close_(void *s) {{ (void)s; }}\n\
         const posthaste_method posthaste_method_table = {{ .version = 1, .longest = 4096, .name = \"test\",\n\
         .open = open_, .address = address, .connect = connect_, .send = send_, .poll = poll_, .flush = flush,\n\
         .close = close_, {fields} }};"
    )
}

#[test]
fn files_that_are_not_there_are_named() {
    let why = Plugin::load("/no/such/plugin.so").unwrap_err();
    assert!(why.contains("/no/such/plugin.so"), "{why}");
    let why = Plugin::load("nothing").unwrap_err();
    assert!(why.contains("libposthaste_nothing.so"), "{why}");
}

#[test]
fn what_is_wrong_with_a_table_is_said() {
    refused("bare", "int nothing;", "FILE is no plug-in of posthaste: it has no posthaste_method_table");
    refused(
        "later",
        &table(".version = 2"),
        "FILE is a plug-in for version 2 of posthaste's table of methods, expected version 1",
    );
    refused("sendless", &table(".send = 0"), "the plug-in FILE has no function send");
    refused("closeless", &table(".close = 0"), "the plug-in FILE has no function close");
    refused(
        "short",
        &table(".longest = 100"),
        "the plug-in FILE has packets of 100 bytes, expected 256 to 16777216",
    );
    refused(
        "misnamed",
        &table(".name = \"a b\""),
        "the plug-in FILE is called \"a b\", expected 1 to 32 letters, digits, - and _",
    );
}

#[test]
fn a_plugin_that_cannot_start_says_why() {
    let Some(file) = compiled("unwilling", &table("")) else { return };
    let plugin = Plugin::load(&file).unwrap();
    assert_eq!((plugin.name(), plugin.longest()), ("test", 4096));
    assert_eq!(plugin.start(0, 2, &[0; 32]).unwrap_err(), "no");
}

//! Every example of the document that models read about patterns, rules and
//! SQL is run here, and finds something as written.

use patchwright_retrieval::{Engine, Memory, Query, Settings};
use std::path::Path;

const C: &str = "\
#include <string.h>
struct state { int len; };
int copy_all(struct state *p, char *d, const char *s, int n)
{
    int i;
    if (p == NULL) {
        return 0;
    }
    if (i < n) {
        memcpy(d, s, n);
    }
    for (i = 0; i < n; i++) {
        d[i] = s[i];
    }
    p->len += n;
    memcpy(d, s, n);
    return p->len;
}
void drop(char *p)
{
    strcpy(p, \"x\");
    free(p);
}
";
const JAVA: &str = "\
package a;
class Base {}
class B extends Base {
    void run(java.util.List<String> list) {
        try {
            list.add(\"x\");
        } catch (RuntimeException e) {
        }
    }
}
";

#[test]
fn every_documented_example_finds_something() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.c"), C).unwrap();
    std::fs::write(root.join("B.java"), JAVA).unwrap();
    let engine = Engine::open(&root, &folder.path().join("cache"), Settings::default()).unwrap();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prompts/retrieval.md");
    let document = std::fs::read_to_string(document).unwrap();
    let mut tried = 0;
    for example in document.lines().filter(|line| line.starts_with('<')) {
        let (kind, rest) = example[1..].split_once('>').unwrap();
        let body = rest.strip_suffix(&format!("</{kind}>")).unwrap();
        let answer = engine.answer(&Query::read(kind, body, &[]).unwrap());
        let text = Memory::default().render(1, std::slice::from_ref(&answer));
        assert!(
            answer.miss.is_none() && answer.total > 0,
            "{example}: {text}"
        );
        assert!(!text.contains("relaxed"), "{example}: {text}");
        tried += 1;
    }
    // Two of each kind and language.
    assert_eq!(tried, 12);
}

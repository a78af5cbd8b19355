//! Random numbers that are the same every time, and words made of them.

const VERBS: [&str; 12] = [
    "Fix", "Debug", "Rewrite", "Explain", "Review", "Migrate", "Test", "Remove", "Document",
    "Profile", "Split", "Rename",
];
const THINGS: [&str; 16] = [
    "flaky login test",
    "connection pool",
    "retry budget",
    "release script",
    "cache eviction",
    "search index",
    "config loader",
    "CSV export",
    "payment webhook",
    "rate limiter",
    "date parser",
    "image upload",
    "Docker build",
    "memory leak",
    "terminal resize",
    "数据库连接池",
];
const WORDS: [&str; 24] = [
    "the", "test", "fails", "when", "a", "session", "is", "read", "before", "it", "was", "written",
    "so", "we", "should", "look", "at", "how", "cache", "handles", "errors", "naïve", "✓", "漢字",
];

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// How big something is beside others: mostly small, some very big.
    pub fn weight(&mut self) -> u64 {
        let exponent = self.below(12);
        (1 << exponent) + self.below(1 << exponent)
    }

    /// Which of these it falls to, by their shares.
    pub fn share(&mut self, shares: &[u64]) -> usize {
        let mut left = self.below(shares.iter().sum());
        shares
            .iter()
            .position(|share| match left.checked_sub(*share) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            })
            .unwrap()
    }

    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff,
        )
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let at = self.below(words.len() as u64);
        words[usize::try_from(at).unwrap()]
    }

    pub fn cwd(&mut self) -> String {
        let kind = self.pick(&["api", "web", "infra", "docs"]);
        format!("/home/sam/work/{kind}-{}", self.below(75))
    }

    pub fn title(&mut self) -> String {
        format!("{} the {}", self.pick(&VERBS), self.pick(&THINGS))
    }

    pub fn prompt(&mut self) -> String {
        let about = self.title();
        format!("{about}: {}", self.text(4))
    }

    /// So many times about 30 bytes.
    pub fn text(&mut self, length: u64) -> String {
        let words: Vec<&str> = (0..length * 6).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }
}

#![no_main]

use ibid::tool::Tool;
use ibid_fuzz::{check, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| check(Tool::ClaudeCode, data));

fuzz_mutator!(|data: &mut [u8], size: usize, max: usize, seed: u32| {
    mutate(data, size, max, seed)
});

//! A disk that fails while a log is written.

use super::*;

/// A file on a disk that is full when `room` bytes are written.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<DiskState>>);

#[derive(Debug, Default)]
struct DiskState {
    bytes: Vec<u8>,
    room: usize,
    fail_sync: bool,
    fail_cut: bool,
}

impl LogFile for Disk {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        assert_eq!(offset, disk.bytes.len() as u64);
        let fits = bytes.len().min(disk.room - disk.bytes.len());
        disk.bytes.extend(bytes.get(..fits).unwrap());
        if fits < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.0.lock().unwrap().fail_sync {
            return Err(io::Error::other("sync"));
        }
        Ok(())
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        if disk.fail_cut {
            return Err(io::Error::other("cut"));
        }
        disk.bytes.truncate(usize::try_from(len).unwrap());
        Ok(())
    }

    fn len(&self) -> io::Result<Option<u64>> {
        Ok(Some(self.0.lock().unwrap().bytes.len() as u64))
    }
}

fn writer_on(disk: &Disk, home: &Home) -> SessionWriter {
    let mut writer = create(home).unwrap();
    writer.log = Log::new(Box::new(disk.clone()), 0);
    disk.0.lock().unwrap().room = 1_000;
    writer.append(say("one")).unwrap();
    writer
}

#[test]
fn a_full_disk_leaves_file_and_session_as_they_were() {
    let (_dir, home) = home();
    let disk = Disk::default();
    let mut writer = writer_on(&disk, &home);
    let before = disk.0.lock().unwrap().bytes.clone();
    let error = writer
        .append_all(vec![say("two"), say(&"x".repeat(2_000))])
        .unwrap_err();
    assert_eq!(error.code(), "STORE_FULL");
    let told = error.to_string();
    assert!(told.contains("nothing of it was kept"), "{told}");
    assert!(!told.contains("draft"), "not every message has one: {told}");
    assert_eq!(disk.0.lock().unwrap().bytes, before);
    assert_eq!(texts(writer.session()), ["one"]);
    disk.0.lock().unwrap().room = 10_000;
    assert_eq!(writer.append(say("two")).unwrap().seq, Seq(1));
    assert_eq!(texts(writer.session()), ["one", "two"]);
}

#[test]
fn what_could_not_be_made_durable_is_taken_back() {
    let (_dir, home) = home();
    let disk = Disk::default();
    let mut writer = writer_on(&disk, &home);
    let before = disk.0.lock().unwrap().bytes.clone();
    disk.0.lock().unwrap().fail_sync = true;
    assert_eq!(writer.append(say("two")).unwrap_err().code(), "STORE_IO");
    assert_eq!(disk.0.lock().unwrap().bytes, before);
    assert_eq!(texts(writer.session()), ["one"]);
}

#[test]
fn a_rest_that_could_not_be_cut_is_cut_before_the_next_append() {
    let (_dir, home) = home();
    let disk = Disk::default();
    let mut writer = writer_on(&disk, &home);
    let before = disk.0.lock().unwrap().bytes.len();
    disk.0.lock().unwrap().fail_cut = true;
    writer.append(say(&"x".repeat(2_000))).unwrap_err();
    assert!(disk.0.lock().unwrap().bytes.len() > before);
    writer.append(say("still not")).unwrap_err();
    {
        let mut disk = disk.0.lock().unwrap();
        disk.fail_cut = false;
        disk.room = 10_000;
    }
    writer.append(say("two")).unwrap();
    let bytes = disk.0.lock().unwrap().bytes.clone();
    let lines = String::from_utf8(bytes).unwrap();
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.contains("two"));
}

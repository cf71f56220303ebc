// Package deltalog answers which log files make up a version of a table and what they add up to.
//
// [Log.FindSegment] lists the log and chooses a checkpoint and the commits after it; [Log.Load] reads protocol and
// metadata; [Log.Open] does both. [Snapshot.Adds] streams the reconciled active files in bounded memory; [Collect] keeps them
// in columns and in canonical order. [Snapshot.Look] and [Snapshot.Refresh] go on from a version when newer ones come,
// [Snapshot.Commits] reads commits as data. [Log.VersionAsOf] and [Log.OpenFrom] find versions by time, [Log.History] describes
// commits. What the files hold, whether this reader can read them and which of them a scan needs is left to others.
//
// # What is not obvious
//
//   - Replay runs newest first: the first reference to a file decides (R1, R3). Only the keys that the commits name are
//     kept; the checkpoint streams past them.
//   - The hint never decides anything. It only says where the listing may begin; when what follows is not enough, the log
//     is listed from its beginning.
//   - A checkpoint is opened (footers, sidecars) before the first file of it is handed out, because that is the last
//     moment at which an older one can take its place (L10).
//   - Compactions and .crc files only spare requests. Both can be left behind by another table at the same place, so a
//     compaction must agree with its last commit, and a checksum must be of the transaction that made the version.
//   - The time of a version is its commit's own where in-commit timestamps are enabled, and its file's otherwise. Which it is
//     can change in the middle of a log: a time is looked for only on the side it belongs to (T4).
//   - Commit files never change. So a later listing is of the same table when it shows the file of the version that was
//     read, with the size and time it had; anything else is looked into before a newer commit is believed (L11).
package deltalog

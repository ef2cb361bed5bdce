namespace QuickSilver.Core.Storage;

internal enum LogOutcome
{
    /// <summary>It will be done, in order; its end comes to the observer.</summary>
    Accepted = 0,

    /// <summary>There is no room now and nothing was done: try again at <see cref="ILogObserver.OnRoom"/>.</summary>
    Busy,

    /// <summary>The log has reached <see cref="LogOptions.MaxBytes"/>, and nothing was done. Only a truncation makes room.</summary>
    Full,
}

// A sequence of bytes on disk that grows at its end, can be read from any offset, and can be cut off at any length. It knows no
// records: its user frames them, with a checksum each, so that zeros are no record. After a crash its user finds the end of the last whole
// one, and truncates the log there before it appends. With preallocation, the log that was opened may end with zeros.
//
// All calls are the core thread's, and so are all callbacks, which never come within a call. Appends, syncs and truncations are done in
// order. Reads are done in order among themselves and beside them: a read waits for the writes of what it reads, and for no other write or
// sync. Only a truncation waits for the reads that were accepted before. Dispose accepts nothing more, lets all that was
// accepted be done, and closes. A log that trims its head is made of several logs: the oldest is truncated to 0 and becomes the newest.
//
// Fail-stop: after the first failure nothing more is done, OnClosed gives the reason, and each further call throws that failure.
// DurableLength stays readable, and is all that may be relied on.
//
// An opening makes durable what it finds, except what a failed sync of an earlier process dropped. The system shows that and does not
// write it, so the log cannot find it out. What its user reads after an opening may be lost with the power, until the user has appended it
// once more and synced that.
internal interface INodeLog : IDisposable
{
    string Name { get; }

    /// <summary>Where the next append begins; 0 until the log is open, and then all that its file holds.</summary>
    long Length { get; }

    /// <summary>
    /// Bytes below this survive a loss of power, if they were appended since the log was opened, or if no sync of an earlier process has
    /// failed.
    /// </summary>
    long DurableLength { get; }

    /// <summary>Copies bytes to the end of the log. They reach the disk only with a sync.</summary>
    /// <exception cref="ArgumentException">More than <see cref="LogOptions.BlockBytes"/> bytes.</exception>
    /// <exception cref="LogException">The log has failed.</exception>
    LogOutcome Append(ReadOnlySpan<byte> bytes);

    /// <summary>
    /// Asks for <see cref="ILogObserver.OnSynced"/> with at least the present length. Several syncs may share one flush and one
    /// callback.
    /// </summary>
    /// <exception cref="LogException">The log has failed.</exception>
    LogOutcome Sync();

    /// <summary>
    /// Reads the content from an offset on, as far as the log reaches now. The memory is the log's until
    /// <see cref="ILogObserver.OnRead"/> or <see cref="ILogObserver.OnClosed"/>. Reads end in the order of their calls.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The offset lies outside the log.</exception>
    /// <exception cref="LogException">The log has failed.</exception>
    LogOutcome Read(long offset, Memory<byte> into);

    /// <summary>
    /// Cuts the log off, durably. Until <see cref="ILogObserver.OnTruncated"/> all calls are answered with <see cref="LogOutcome.Busy"/>.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The log is shorter than that.</exception>
    /// <exception cref="LogException">The log has failed.</exception>
    LogOutcome Truncate(long length);
}

// The user of a log, which is notified how its work ends.
internal interface ILogObserver
{
    /// <summary>
    /// The log's length is known, and all that it holds is durable, except what a failed sync of an earlier process dropped.
    /// </summary>
    void OnOpened();

    /// <summary>Bytes below this are with the system: they survive the end of the process, but not a loss of power.</summary>
    void OnWritten(long length);

    /// <summary>Bytes below this are durable.</summary>
    void OnSynced(long length);

    /// <summary>A read has ended; the bytes are the front of the memory that was given.</summary>
    void OnRead(long offset, ReadOnlyMemory<byte> bytes);

    void OnTruncated(long length);

    /// <summary>A call that was answered with <see cref="LogOutcome.Busy"/> has room now.</summary>
    void OnRoom();

    /// <summary>
    /// The last callback, once for each log: its file is closed and may be opened again, and all memory is its user's again. Null: it
    /// was disposed, and all that had been accepted was done.
    /// </summary>
    void OnClosed(LogException? failure);
}

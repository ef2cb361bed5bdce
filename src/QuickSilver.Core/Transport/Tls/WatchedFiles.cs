namespace QuickSilver.Core.Transport.Tls;

// What is made of files, which are read again when they have changed: looked at when a peer connects, once a second at most. Files that
// cannot be used leave what was read before, and that is said once until they change again.
internal sealed class WatchedFiles<T>
    where T : class
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly Func<T> _read;
    private readonly string[] _paths;
    private readonly TimeProvider _time;
    private readonly Action<string, bool> _report;
    private T _latest;
    private (DateTime Written, long Bytes)[] _marks;
    private long _lookedAt;

    /// <param name="read">Reads all of the files.</param>
    /// <param name="paths">Those that are looked at.</param>
    /// <param name="time">The clock for the interval.</param>
    /// <param name="report">Called when files were read again, or (false) with why they were not. On the thread of the caller that
    /// asked.</param>
    /// <exception cref="CredentialException">The files cannot be used.</exception>
    public WatchedFiles(Func<T> read, string[] paths, TimeProvider time, Action<string, bool> report)
    {
        _read = read;
        _paths = paths;
        _time = time;
        _report = report;
        // The marks first: what is written in between is read once more.
        _marks = Look();
        _latest = read();
        _lookedAt = time.GetTimestamp();
    }

    public T Latest => Volatile.Read(ref _latest);

    /// <summary>Whether the files may be looked at again. From any thread; never waits.</summary>
    public bool IsLookDue => _time.GetElapsedTime(Volatile.Read(ref _lookedAt)) >= LookInterval;

    public T Refresh()
    {
        lock (_lock)
        {
            long now = _time.GetTimestamp();
            if (_time.GetElapsedTime(_lookedAt, now) < LookInterval)
            {
                return _latest;
            }

            Volatile.Write(ref _lookedAt, now);
            var marks = Look();
            if (marks.AsSpan().SequenceEqual(_marks))
            {
                return _latest;
            }

            _marks = marks;
            try
            {
                Volatile.Write(ref _latest, _read());
                _report(string.Join(", ", _paths), true);
            }
            catch (CredentialException unusable)
            {
                _report(unusable.Message, false);
            }

            return _latest;
        }
    }

    // The time and the size of each file, at the end of all links, as one of them may be changed. A file that is missing for a moment,
    // while another takes its place, has none.
    private (DateTime, long)[] Look() => [.. _paths.Select(static path =>
    {
        try
        {
            var file = new FileInfo(path);
            file = file.ResolveLinkTarget(returnFinalTarget: true) as FileInfo ?? file;
            return file.Exists ? (file.LastWriteTimeUtc, file.Length) : default;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // A failure is reported when it is read.
            return default;
        }
    })];
}

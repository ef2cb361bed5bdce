using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Transport.Tls;

// What the TLS streams of a node show and trust, and the thread on which they live. Before a handshake its files are looked at, beside
// that thread: a disk that does not answer holds up new streams alone.
internal sealed class StreamCredentials(IStreamCredentials credentials, StreamThread thread)
{
    private Task<TlsCredentials>? _look;

    public IStreamCredentials Source => credentials;

    public StreamThread Thread => thread;

    /// <summary>As they are now. One look is under way at a time. Stream thread only.</summary>
    public Task<TlsCredentials> ReadAsync()
    {
        if (_look is { IsCompleted: false })
        {
            return _look;
        }

        _look = credentials.IsLookDue ? thread.RunBeside(credentials.Refresh) : null;
        return _look ?? Task.FromResult(credentials.Latest);
    }
}

namespace QuickSilver.Core.Transport.Tls;

// Credentials of files, which are read again when they have changed.
internal sealed class WatchedCredentials : IStreamCredentials
{
    private readonly WatchedFiles<TlsCredentials> _files;

    /// <inheritdoc cref="WatchedFiles{T}(Func{T}, string[], TimeProvider, Action{string, bool})"/>
    public WatchedCredentials(Func<TlsCredentials> read, string[] paths, TimeProvider time, Action<string, bool> report) =>
        _files = new WatchedFiles<TlsCredentials>(read, paths, time, report);

    public TlsCredentials Latest => _files.Latest;

    public bool IsLookDue => _files.IsLookDue;

    public TlsCredentials Refresh() => _files.Refresh();
}

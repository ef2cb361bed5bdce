using System.IO.Pipelines;

namespace QuickSilver.Core.Transport.Tls;

// The stream beneath TLS. It looks at the first bytes that the peer sends, and ends at once when they begin no TLS record: what is no TLS
// may look like a long record of an old version, for whose rest TLS would wait.
internal sealed class FirstBytesStream(PipeReader incoming, PipeWriter outgoing) : Stream
{
    // Change of cipher, alert, handshake and data (RFC 8446, 5.1), then the version, whose first byte has been 3 ever since.
    private const byte FirstType = 20;
    private const byte LastType = 23;
    private const byte Major = 3;

    private readonly Stream _incoming = incoming.AsStream();
    private readonly Stream _outgoing = outgoing.AsStream();

    /// <summary>Whether anything came.</summary>
    public bool HasAny { get; private set; }

    /// <summary>What came is no TLS.</summary>
    public bool IsForeign { get; private set; }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public static bool BeginsRecord(ReadOnlySpan<byte> bytes) =>
        bytes[0] is >= FirstType and <= LastType && (bytes.Length < 2 || bytes[1] == Major);

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read = await _incoming.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
        if (!HasAny && read > 0)
        {
            HasAny = true;
            IsForeign = !BeginsRecord(buffer.Span[..read]);
        }

        return IsForeign ? throw new IOException("The peer does not use TLS.") : read;
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        _outgoing.WriteAsync(buffer, cancellationToken);

    public override Task FlushAsync(CancellationToken cancellationToken) => _outgoing.FlushAsync(cancellationToken);

    // TLS is used asynchronously only.
    public override void Flush() => throw new NotSupportedException();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _incoming.Dispose();
            _outgoing.Dispose();
        }

        base.Dispose(disposing);
    }
}

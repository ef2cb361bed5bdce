using System.Text;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Infrastructure;

// A stream handler that remembers its calls; by default it consumes everything.
internal sealed class StreamRecorder : IControlStreamHandler
{
    private readonly List<string> _told = [];
    private readonly MemoryStream _consumed = new();

    // Called with all bytes offered; answers how many are consumed.
    public Func<IControlStream, byte[], int>? OnOffer { get; init; }

    public IControlStream? Stream { get; private set; }

    public string[] Told
    {
        get
        {
            lock (_told)
            {
                return [.. _told];
            }
        }
    }

    public string Text
    {
        get
        {
            lock (_told)
            {
                return Encoding.ASCII.GetString(_consumed.ToArray());
            }
        }
    }

    public long ConsumedBytes
    {
        get
        {
            lock (_told)
            {
                return _consumed.Length;
            }
        }
    }

    public string? Reason => Told.FirstOrDefault(told => told.StartsWith("closed: ", StringComparison.Ordinal));

    public void OnConnected(IControlStream stream)
    {
        Stream = stream;
        Tell("connected");
    }

    public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        Stream = stream;
        int consumed = OnOffer?.Invoke(stream, bytes.ToArray()) ?? bytes.Length;
        if (consumed >= 0 && consumed <= bytes.Length)
        {
            lock (_told)
            {
                _consumed.Write(bytes[..consumed]);
            }
        }

        return consumed;
    }

    public void OnClosed(IControlStream stream, string reason) => Tell("closed: " + reason);

    private void Tell(string what)
    {
        lock (_told)
        {
            _told.Add(what);
        }
    }
}

internal sealed class Acceptor(Func<IControlStream, IControlStreamHandler?> onAccept) : IControlAcceptor
{
    public IControlStreamHandler? OnAccept(IControlStream stream) => onAccept(stream);
}

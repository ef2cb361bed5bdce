using System.Text;
using QuickSilver.Core.Transport;

namespace QuickSilver.Simulation.Tests.Infrastructure;

// Keeps the calls of a stream to its handler; consumes all, or as Consume says.
internal sealed class RecordingHandler : IControlStreamHandler
{
    public List<byte> Received { get; } = [];

    public List<int> Offers { get; } = [];

    public int Connections { get; private set; }

    public List<string> Closings { get; } = [];

    public Func<byte[], int>? Consume { get; set; }

    public Action<IControlStream>? WhenConnected { get; set; }

    public string Text => Encoding.UTF8.GetString([.. Received]);

    public void OnConnected(IControlStream stream)
    {
        Connections++;
        WhenConnected?.Invoke(stream);
    }

    public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        Offers.Add(bytes.Length);
        int consumed = Consume?.Invoke(bytes.ToArray()) ?? bytes.Length;
        Received.AddRange(bytes[..Math.Min(consumed, bytes.Length)]);
        return consumed;
    }

    public void OnClosed(IControlStream stream, string reason) => Closings.Add(reason);
}

internal sealed class RecordingAcceptor : IControlAcceptor
{
    public List<(IControlStream Stream, RecordingHandler Handler)> Accepted { get; } = [];

    public bool Refuses { get; set; }

    public Action<IControlStream>? WhenAccepted { get; set; }

    public RecordingHandler Handler => Accepted[^1].Handler;

    public IControlStream Stream => Accepted[^1].Stream;

    public IControlStreamHandler? OnAccept(IControlStream stream)
    {
        if (Refuses)
        {
            return null;
        }

        Accepted.Add((stream, new RecordingHandler()));
        WhenAccepted?.Invoke(stream);
        return Handler;
    }
}

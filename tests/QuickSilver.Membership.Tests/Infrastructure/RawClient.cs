using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Infrastructure;

// A client that sends whatever it is asked to.
internal sealed class RawClient : IControlStreamHandler
{
    private readonly ControlBuffer _buffer = new();

    public RawClient(FakeCluster cluster, ulong seed = 99)
    {
        Stream = (FakeStream)cluster.World.AddNode(seed).Connect(FakeCluster.EndPoint, this);
    }

    public RawClient(FakeEnvironment at, IPEndPoint? to = null)
    {
        Stream = (FakeStream)at.Connect(to ?? FakeCluster.EndPoint, this);
    }

    public FakeStream Stream { get; }

    public bool IsConnected { get; private set; }

    public bool IsClosed { get; private set; }

    public List<int> Received { get; } = [];

    public static JoinMessage Join(
        ulong id,
        int version = ControlFrame.ProtocolVersion,
        string cluster = "default",
        long known = 0) => new()
        {
            Cluster = cluster,
            ProtocolVersion = version,
            Node = new NodeKey(id, 1),
            EndPoint = new IPEndPoint(new IPAddress([10, 0, 0, 9]), 5),
            Known = known,
        };

    public RawClient Send<T>(in T message)
        where T : IControlMessage
    {
        _buffer.Clear();
        ControlFrame.Append(_buffer, message);
        return SendBytes(_buffer.Written);
    }

    public RawClient SendBytes(ReadOnlySpan<byte> bytes)
    {
        Stream.Send(bytes);
        return this;
    }

    public void OnConnected(IControlStream stream) => IsConnected = true;

    public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        int consumed = 0;
        const int Max = ControlFrame.MaxFromServiceBytes;
        while (ControlFrame.TryCut(bytes[consumed..], Max, out int kind, out _, out int length) == FrameOutcome.Complete)
        {
            Received.Add(kind);
            consumed += length;
        }

        return consumed;
    }

    public void OnClosed(IControlStream stream, string reason) => IsClosed = true;
}

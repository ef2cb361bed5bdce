using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Fuzz.Control;
using QuickSilver.Membership.Protocol;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Fuzz.Live;

// A client of the membership service that sends what the target gives it. It reads all that comes.
internal sealed class FrameClient : IControlStreamHandler
{
    private readonly SimulatedMachine _machine;
    private readonly IControlStream _stream;
    private bool _hasJoined;

    public FrameClient(SimulatedMachine machine, IPEndPoint service)
    {
        _machine = machine;
        _stream = machine.Environment.Connect(service, this);
    }

    public bool IsClosed { get; private set; }

    public void Join(ulong id)
    {
        _hasJoined = true;
        SendFrames(ControlSeeds.Frames(ControlSeeds.Join(id, _machine.Address), SignalMessage.JoinComplete));
    }

    /// <summary>Joins, unless it has before.</summary>
    public void JoinOnce(ulong id)
    {
        if (!_hasJoined)
        {
            Join(id);
        }
    }

    public void SendFrames(byte[] frames) => _stream.Send(frames);

    /// <summary>Sends the bytes in a frame of this kind; of kind 0, without one.</summary>
    public void Send(byte kind, ReadOnlySpan<byte> bytes)
    {
        if (kind == 0)
        {
            _stream.Send(bytes);
            return;
        }

        _stream.Send(Framed(kind, bytes));
    }

    public static byte[] Framed(byte kind, ReadOnlySpan<byte> body)
    {
        var buffer = new ControlBuffer();
        int frame = buffer.BeginFrame();
        if (body.IsEmpty)
        {
            buffer.End(buffer.Begin(kind));
        }

        buffer.Bytes(kind, body);
        buffer.EndFrame(frame);
        return buffer.Written.ToArray();
    }

    void IControlStreamHandler.OnConnected(IControlStream stream)
    {
    }

    int IControlStreamHandler.OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes) => bytes.Length;

    void IControlStreamHandler.OnClosed(IControlStream stream, string reason) => IsClosed = true;
}

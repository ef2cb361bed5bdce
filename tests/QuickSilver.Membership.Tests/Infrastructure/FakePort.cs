using System.Net;
using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Tests.Infrastructure;

internal sealed class FakePort(FakeEnvironment owner, IPEndPoint local, IDatagramReceiver receiver) : IDatagramPort
{
    public FakeEnvironment Owner { get; } = owner;

    public IPEndPoint LocalEndPoint { get; } = local;

    public int MaxRunSegments => 1;

    public long KernelDrops => 0;

    public int ReceiveBufferBytes => 1 << 20;

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        byte[] bytes = run.ToArray();
        foreach (var port in Owner.World.Ports.Where(port => port.LocalEndPoint.Equals(destination.EndPoint)).ToArray())
        {
            Owner.World.After(FakeWorld.Latency, () => port.Owner.Do(() => port.Receive(Owner, bytes)));
        }

        return SendOutcome.Sent;
    }

    public void Receive(FakeEnvironment sender, byte[] bytes)
    {
        if (!Owner.World.Ports.Contains(this) || Owner.World.IsBlocked(sender, Owner))
        {
            return;
        }

        var lease = Owner.Buffers.TryRent()!;
        bytes.CopyTo(lease.Span);
        receiver.OnRun(new ReceivedRun(lease, 0, bytes.Length, this));
        lease.Release();
    }

    public void Dispose() => Owner.World.Ports.Remove(this);
}

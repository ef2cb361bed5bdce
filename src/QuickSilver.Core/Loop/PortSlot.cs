using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

internal enum ReceiveOutcome
{
    Received,
    // Nothing waits at the port.
    Nothing,
    // Something may wait, and there is no memory for it.
    NoMemory,
}

// An open port and who receives from it, as a duty cycle keeps them together.
internal abstract class PortSlot(IDatagramReceiver receiver) : IReadySource
{
    public abstract IDatagramPort Port { get; }

    public IDatagramReceiver Receiver { get; } = receiver;

    public abstract bool IsClosed { get; }

    /// <summary>Takes the run that has waited longest into memory that the intake gives.</summary>
    public abstract ReceiveOutcome TryReceive(RunIntake intake, out PlacedRun run);

    public override string ToString() => $"{Receiver.GetType().Name} on {Port}";
}

// A run in memory, with one claim on it.
internal readonly record struct PlacedRun(Lease Lease, int Offset, int Length)
{
    /// <summary>How many datagrams it has; 0 where the system does not say.</summary>
    public int Datagrams { get; init; }

    public ReadOnlySpan<byte> Span => Lease.Span.Slice(Offset, Length);
}

// A port over a socket.
internal sealed class SocketSlot(DatagramSocket socket, IDatagramReceiver receiver) : PortSlot(receiver)
{
    public override IDatagramPort Port => socket;

    public override bool IsClosed => socket.IsClosed;

    public override ReceiveOutcome TryReceive(RunIntake intake, out PlacedRun run)
    {
        run = default;
        if (intake.OfferBlock() is not { } block)
        {
            return ReceiveOutcome.NoMemory;
        }

        int length = socket.TryReceive(block, 0, SlabPool.BlockBytes);
        if (length < 0)
        {
            return ReceiveOutcome.Nothing;
        }

        run = intake.Place(length);
        return ReceiveOutcome.Received;
    }
}

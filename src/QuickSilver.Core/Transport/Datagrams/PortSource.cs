using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Transport.Datagrams;

// An open port and its receiver. Its completions are runs, and errors, which are counted and end nothing.
internal abstract class PortSource(IDatagramReceiver receiver) : CompletionSource
{
    public abstract IDatagramPort Port { get; }

    public IDatagramReceiver Receiver { get; } = receiver;

    // A failed receive reports an earlier send as a rule, and has cleared the error. The port has counted it.
    public override void OnCompletion(in Completion completion)
    {
    }

    public override string ToString() => $"{Receiver.GetType().Name} on port {Port.LocalEndPoint}";
}

// A port over a socket that is read when the poller has reported it as readable: a receive is a call that returns at once.
internal sealed class ReadPortSource(DatagramSocket socket, IDatagramReceiver receiver) : PortSource(receiver)
{
    public override IDatagramPort Port => socket;

    public override bool IsClosed => socket.IsClosed;

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (memory.OfferBlock() is not { } block)
        {
            return TakeOutcome.NoMemory;
        }

        int length = socket.TryReceive(block, 0, SlabPool.BlockBytes);
        if (length < 0)
        {
            if (length == IDatagramCalls.NothingWaits)
            {
                return TakeOutcome.Nothing;
            }

            completion = new Completion(this, CompletionKind.Error, -length);
            return TakeOutcome.Taken;
        }

        completion = new Completion(this, memory.Place(length));
        return TakeOutcome.Taken;
    }
}

using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

// An open port and who receives from it, as the core thread keeps them together.
internal sealed class PortSlot(DatagramSocket port, IDatagramReceiver receiver) : IReadySource
{
    public DatagramSocket Port { get; } = port;

    public IDatagramReceiver Receiver { get; } = receiver;

    public override string ToString() => $"{Receiver.GetType().Name} on {Port}";
}

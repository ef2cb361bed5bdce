using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Transport;

// What is said when the system does not let a process listen: where, why, and what to do.
public sealed class RefusedListenerTests : IDisposable
{
    private readonly MachineNode _node = new();

    public void Dispose() => _node.Dispose();

    [Fact]
    public void The_listener_at_the_port_is_named()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems do not tell");
        using var other = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        other.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        other.Listen();
        var at = (IPEndPoint)other.LocalEndPoint!;
        string said = Refusal(at);
        Assert.StartsWith($"Cannot listen at {at}: process {System.Environment.ProcessId} (", said, StringComparison.Ordinal);
        Assert.EndsWith(") listens there. End it, or choose another port.", said, StringComparison.Ordinal);
    }

    [Fact]
    public void An_address_of_another_machine_is_distinguished_from_a_port_in_use()
    {
        // For documentation alone (RFC 5737): no machine has it.
        string said = Refusal(new IPEndPoint(IPAddress.Parse("192.0.2.1"), 7400));
        Assert.StartsWith("Cannot listen at 192.0.2.1:7400: no interface of this machine has this address. Choose", said);
    }

    private string Refusal(IPEndPoint at) =>
        Assert.Throws<TransportException>(() => _node.Do(() => _node.Environment.Listen(at, new Nobody()))).Message;

    private sealed class Nobody : IControlAcceptor
    {
        public IControlStreamHandler? OnAccept(IControlStream stream) => null;
    }
}

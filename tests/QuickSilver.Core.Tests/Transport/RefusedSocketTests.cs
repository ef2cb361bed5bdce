using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Tests.Transport;

// Refusals of the kernel, as protocol code gets them. Running out of descriptors is the matter of a process of its own.
public sealed class RefusedSocketTests
{
    [Fact]
    public void A_port_that_another_socket_holds_is_refused_in_words_and_can_be_opened_when_that_is_closed()
    {
        using var node = new MachineNode();
        var group = LoopbackGroup.Next();
        using var holder = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        // Without SO_REUSEADDR, at all addresses: no other socket of the machine gets this port.
        holder.Bind(new IPEndPoint(IPAddress.Any, 0));
        int port = ((IPEndPoint)holder.LocalEndPoint!).Port;

        var refused = Assert.Throws<TransportException>(() => node.Do(() => Open(node, group.EndPoint.Address, port)));
        Assert.Contains($"{group.EndPoint.Address}:{port}", refused.Message, StringComparison.Ordinal);

        holder.Dispose();
        var opened = node.Do(() => Open(node, group.EndPoint.Address, port));
        node.Do(opened.Dispose);
    }

    [Fact]
    public void A_stream_without_a_socket_says_later_that_it_is_closed()
    {
        IPoller? poller = null;
        using var node = new MachineNode(() => poller = Poller.Create(PollerKind.Default), 1 << 20);
        var told = new StreamRecorder();
        node.Do(() =>
        {
            var stream = new RefusedStream(new IPEndPoint(IPAddress.Loopback, 1), told, "no socket", poller!);
            stream.Send("early"u8);
            Assert.Empty(told.Told);
        });
        Patience.Until(() => told.Told.Length == 1, "the word of the refusal");
        Assert.Contains("no socket", told.Told.Single(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_stream_without_a_socket_that_is_closed_before_says_nothing()
    {
        IPoller? poller = null;
        using var node = new MachineNode(() => poller = Poller.Create(PollerKind.Default), 1 << 20);
        var told = new StreamRecorder();
        node.Do(() => new RefusedStream(new IPEndPoint(IPAddress.Loopback, 1), told, "no socket", poller!).Close());
        node.Do(() => { });
        Assert.Empty(told.Told);
    }

    private static IDatagramPort Open(MachineNode node, IPAddress group, int port) => node.Environment.OpenPort(
        new DatagramPortOptions { Group = group, Port = port }, new RecordingReceiver());
}

using System.Net;
using QuickSilver.Core.Security.Identities;

namespace QuickSilver.Core.Transport;

// Ordered, reliable bytes between a node and the membership service: TCP on a machine, a modelled stream
// in the simulator. All calls and callbacks are on the core thread.
internal interface IControlStream
{
    IPEndPoint? RemoteEndPoint { get; }

    /// <summary>The proved identity of the other end; null without security.</summary>
    PeerIdentity? Peer => null;

    /// <summary>The certificate by which it has proved that; null where there is none, or it follows from a secret.</summary>
    PeerCertificate? PeerCertificate => null;

    /// <summary>Why the keys of both sides did not fit, once the stream is closed.</summary>
    KeyFault KeyFault => KeyFault.None;

    /// <summary>Bytes accepted and not yet handed to the network; a writer that is faster than this shrinks should close.</summary>
    long PendingBytes { get; }

    /// <summary>Queues bytes to send (copied before it returns). A closed stream ignores them.</summary>
    void Send(ReadOnlySpan<byte> bytes);

    /// <summary>Queues bytes that never change. They are not copied, so that many streams may send the same.</summary>
    void SendShared(byte[] bytes);

    /// <summary>Closes at once; OnClosed is not called for one's own Close.</summary>
    void Close();
}

internal interface IControlStreamHandler
{
    void OnConnected(IControlStream stream);

    /// <summary>New bytes. Returns how many were consumed; the rest is offered again together with what follows.</summary>
    int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes);

    /// <summary>The peer closed, the network failed, or the connection could not be made; said once.</summary>
    void OnClosed(IControlStream stream, string reason);
}

internal interface IControlAcceptor
{
    /// <summary>
    /// The handler for a new inbound stream; null refuses it. Streams whose handshake was under way when the listener was disposed still
    /// come.
    /// </summary>
    IControlStreamHandler? OnAccept(IControlStream stream);

    /// <summary>
    /// The process may open few more descriptors, and a peer connects: a stream that has shown nothing yet gives way, if there is one.
    /// </summary>
    void OnFewDescriptors(IPEndPoint newcomer)
    {
    }

    /// <summary>A peer connected and did not prove its identity, or found no room to do so; the reason is the end of a sentence.</summary>
    void OnRefused(IPEndPoint remote, string reason, StreamRefusal kind)
    {
    }
}

// Why a connection did not become a stream.
internal enum StreamRefusal
{
    // The handshake failed.
    Failed = 0,

    // There was no room for its handshake.
    NoRoom,

    // It sent nothing.
    Silent,

    // It held a place that was another's.
    Displaced,
}

// What about the keys of the two sides kept a client from its service. None: the cause is another one, or it is not known.
internal enum KeyFault
{
    None = 0,

    // The certificate of the service is of another secret or authority.
    OtherService,

    // The certificate of the service is of the right authority, but out of date, or not for a service.
    ServiceCertificate,

    // The client's own certificate is out of date, or not for a node.
    OwnCertificate,

    // The service does not accept the client's secret or authority.
    NotAccepted,

    // The client has a key, and the service has none.
    ServiceWithoutKey,

    // The service has a key, and the client has none.
    ClientWithoutKey,
}

internal interface IControlListener : IDisposable
{
    IPEndPoint LocalEndPoint { get; }
}

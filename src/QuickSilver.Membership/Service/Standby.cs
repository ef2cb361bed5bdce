using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Sessions;

namespace QuickSilver.Membership.Service;

// A server of a service while another one leads. It sends each client that connects the address of the leader, as far as it knows it, sends
// it again if that changes, and closes. It reads nothing.
internal sealed class Standby : IControlAcceptor, IDisposable
{
    private readonly INodeEnvironment _environment;
    private readonly SessionLimits _limits;
    private readonly Refusals _refusals;
    private readonly HashSet<Visitor> _visitors = [];
    private readonly SessionQuotas _places;
    private readonly IControlListener _listener;
    private bool _isListening = true;

    /// <summary>Listens on <paramref name="local"/>. Throws <see cref="TransportException"/> when it cannot.</summary>
    public Standby(INodeEnvironment environment, SessionLimits limits, Refusals refusals, IPEndPoint local)
    {
        _environment = environment;
        _limits = limits;
        _refusals = refusals;
        _places = new SessionQuotas(limits);
        _listener = environment.Listen(local, this);
    }

    public IPEndPoint LocalEndPoint => _listener.LocalEndPoint;

    /// <summary>The server that leads; null: none, or it is not known.</summary>
    public IPEndPoint? Leader
    {
        get;
        set
        {
            if (Equals(field, value))
            {
                return;
            }

            field = value;
            foreach (var visitor in _visitors.ToArray())
            {
                visitor.Notify(value);
            }
        }
    }

    /// <summary>Stops listening. Clients that have connected still get the address of the leader.</summary>
    public void StopListening()
    {
        if (_isListening)
        {
            _isListening = false;
            _listener.Dispose();
        }
    }

    public void Dispose()
    {
        StopListening();
        foreach (var visitor in _visitors.ToArray())
        {
            visitor.Close();
        }
    }

    IControlStreamHandler? IControlAcceptor.OnAccept(IControlStream stream)
    {
        if (!_places.HasRoomFor(stream))
        {
            _refusals.OnNoSession(stream, isEnding: false);
            return null;
        }

        var visitor = new Visitor(this, stream);
        visitor.Notify(Leader);
        return visitor;
    }

    void IControlAcceptor.OnRefused(IPEndPoint remote, string reason, StreamRefusal kind) => _refusals.OnRefused(remote, reason, kind);

    // It closes the stream itself when it has read the answer; one that does not is closed.
    private sealed class Visitor : IControlStreamHandler
    {
        private readonly Standby _owner;
        private readonly IControlStream _stream;
        private readonly Alarm _deadline;

        public Visitor(Standby owner, IControlStream stream)
        {
            _owner = owner;
            _stream = stream;
            _deadline = new Alarm(Close);
            owner._visitors.Add(this);
            owner._places.Take(stream.RemoteEndPoint, stream.Peer);
            owner._environment.Schedule(_deadline, owner._limits.Linger);
        }

        public void Notify(IPEndPoint? leader)
        {
            var buffer = new ControlBuffer();
            ControlFrame.Append(buffer, new GoodbyeMessage(leader));
            _stream.Send(buffer.Written);
        }

        public void Close()
        {
            Forget();
            _stream.Close();
        }

        void IControlStreamHandler.OnConnected(IControlStream stream)
        {
        }

        int IControlStreamHandler.OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes) => bytes.Length;

        void IControlStreamHandler.OnClosed(IControlStream stream, string reason) => Forget();

        private void Forget()
        {
            _owner._environment.Cancel(_deadline);
            if (_owner._visitors.Remove(this))
            {
                _owner._places.GiveBack(_stream.RemoteEndPoint, _stream.Peer);
            }
        }
    }
}

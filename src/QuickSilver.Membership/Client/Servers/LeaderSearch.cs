using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;

namespace QuickSilver.Membership.Client.Servers;

// Asks the other servers for the leader while the server that this node has joined, or is about to join, is silent. A leader that stands
// still or is cut off closes no connection, and it is given up only after a silence longer than its lease.
//
// Intuition: a server that stands by names the leader to each client that connects, and again when the leader changes. So a few connections
// are enough to learn of a change at once. The leader itself sends nothing to a client that does not join. So a server that accepts a
// connection and is silent for a while is considered the leader.
//
// What goes wrong: the leader may be slow and not gone. The servers that stand by then name it, and nothing changes. A slow server that
// stands by may be mistaken for the leader; it sends the node back. This node itself may stand still, repeatedly where processors are
// short. Messages of the server may lie unread then, so the node waits a little before it asks, once. It does not leave out the time in
// which it stood still, because a leader that takes over waits for a node only for a limited time.
internal sealed class LeaderSearch(INodeEnvironment environment, NamedServers servers, Action<IPEndPoint> onFound)
{
    // Of heartbeats. A heartbeat is answered at once, so one answer is missing.
    private const double Patience = 1.5;
    private static readonly TimeSpan AskInterval = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan SilenceOfLeader = TimeSpan.FromSeconds(1);
    // A server that stands by ends the connection sooner.
    private static readonly TimeSpan MostSilence = TimeSpan.FromSeconds(2);

    private readonly List<Question> _questions = [];
    private Alarm? _alarm;
    private IPEndPoint? _silent;
    private TimeSpan _heard;
    private TimeSpan _patience;
    // Since the server was heard: whether this node stood still, and whether it has waited for what may lie unread.
    private bool _stoodStill;
    private bool _hasWaited;

    /// <summary>A stream to this server begins, or it was heard.</summary>
    /// <param name="server">The server.</param>
    /// <param name="heard">When it was heard, or when the stream began.</param>
    /// <param name="heartbeatInterval">How often it wants to hear this node.</param>
    public void Watch(IPEndPoint server, TimeSpan heard, TimeSpan heartbeatInterval)
    {
        (_silent, _heard, _patience) = (server, heard, heartbeatInterval * Patience);
        _stoodStill = _hasWaited = false;
        if (_alarm is not { IsPending: true })
        {
            Schedule(_heard + _patience - environment.Now);
        }
    }

    /// <summary>This node stood still: what the server has said meanwhile may lie unread.</summary>
    public void OnPause() => _stoodStill = true;

    /// <summary>There is no server to be watched.</summary>
    public void Stop()
    {
        _silent = null;
        environment.CancelIfMade(_alarm);
        Forget();
    }

    private void Check()
    {
        if (_heard + _patience > environment.Now)
        {
            Forget();
            Schedule(_heard + _patience - environment.Now);
            return;
        }

        if (_stoodStill && !_hasWaited)
        {
            _hasWaited = true;
            Schedule(AskInterval);
            return;
        }

        if (_questions.Find(question => question.IsMute) is { } mute)
        {
            if (mute.IsConnected && !mute.HasSpoken)
            {
                onFound(mute.Server);
                return;
            }

            mute.Close();
            _questions.Remove(mute);
        }

        foreach (var server in servers.All)
        {
            if (!server.Equals(_silent) && !_questions.Exists(question => question.Server.Equals(server)))
            {
                _questions.Add(new Question(this, server));
            }
        }

        Schedule(AskInterval);
    }

    private void Schedule(TimeSpan delay) =>
        environment.Schedule(_alarm ??= new Alarm(Check), delay > TimeSpan.Zero ? delay : TimeSpan.Zero);

    private void Forget()
    {
        _questions.ForEach(static question => question.Close());
        _questions.Clear();
    }

    private void OnLeader(IPEndPoint? leader)
    {
        if (leader is not null && _silent is not null && !leader.Equals(_silent))
        {
            onFound(leader);
        }
    }

    private TimeSpan Now => environment.Now;

    private IControlStream Connect(IPEndPoint server, IControlStreamHandler handler) => environment.Connect(server, handler);

    // A connection on which the server names the leader.
    private sealed class Question : IControlStreamHandler
    {
        private readonly LeaderSearch _owner;
        private readonly IControlStream _stream;
        private bool _isClosed;

        public Question(LeaderSearch owner, IPEndPoint server)
        {
            (_owner, Server) = (owner, server);
            Since = owner.Now;
            _stream = owner.Connect(server, this);
        }

        public IPEndPoint Server { get; }

        /// <summary>When it was asked, or last spoke.</summary>
        public TimeSpan Since { get; private set; }

        public bool IsConnected { get; private set; }

        public bool HasSpoken { get; private set; }

        public bool IsMute => _owner.Now - Since >= (HasSpoken ? MostSilence : SilenceOfLeader);

        public void Close()
        {
            _isClosed = true;
            _stream.Close();
        }

        void IControlStreamHandler.OnConnected(IControlStream stream) => (IsConnected, Since) = (true, _owner.Now);

        int IControlStreamHandler.OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
        {
            int consumed = 0;
            while (!_isClosed)
            {
                var outcome = ControlFrame.TryCut(
                    bytes[consumed..], ControlFrame.MaxFromServiceBytes, out int kind, out var body, out int length);
                if (outcome == FrameOutcome.Incomplete)
                {
                    return consumed;
                }

                if (outcome == FrameOutcome.Garbage)
                {
                    End();
                    break;
                }

                consumed += length;
                (HasSpoken, Since) = (true, _owner.Now);
                if (kind == ControlMessageKind.Goodbye && ControlFrame.TryRead<GoodbyeMessage>(body, out var goodbye, out _))
                {
                    _owner.OnLeader(goodbye.Successor);
                }
            }

            return bytes.Length;
        }

        void IControlStreamHandler.OnClosed(IControlStream stream, string reason) => End();

        private void End()
        {
            Close();
            _owner._questions.Remove(this);
        }
    }
}

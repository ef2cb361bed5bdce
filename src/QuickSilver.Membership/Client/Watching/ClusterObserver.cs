using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Client.Watching;

// Watches a cluster through its membership service, without being a node of it. It asks on request, and passes each answer on when it is
// complete. Answers are not trusted: any process may listen at that address.
internal sealed class ClusterObserver : IControlStreamHandler, IPauseObserver, IDisposable
{
    /// <summary>How long a connection, or an answer, may take. The service gives nodes a second to answer.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly INodeEnvironment _environment;
    private readonly DiscoveryContext _discovery;
    private readonly string _cluster;
    private readonly IClusterSnapshotReader _reader;
    private readonly ClusterAnswers _answers;
    private readonly ControlBuffer _buffer = new();
    // What came in a pause is read in less time. A pause is noticed by what happens too late, so it may have begun at the deadline.
    private static readonly TimeSpan ReadTime = TimeSpan.FromSeconds(1);
    private readonly Alarm _deadline;
    private TimeSpan _deadlineAt;
    private readonly ImmutableArray<IPEndPoint> _servers;
    // Of the servers that were named, the one that is tried next, and how many connections have brought no answer since the last one.
    private int _next;
    private int _attempts;
    // Null until the service is found.
    private IPEndPoint? _service;
    private ServiceSearch? _search;
    // Why there was no connection to what the search found last.
    private string? _notFound;
    private IControlStream? _stream;
    // What is asked as soon as there is a connection.
    private Action<ControlBuffer>? _question;
    private bool _isConnected;
    private bool _hasAnswered;
    private bool _isOver;
    // A server has said so since the last answer.
    private bool _standsBy;

    /// <param name="environment">The environment of a core thread; all calls are made on it.</param>
    /// <param name="servers">Servers of the service, tried in turn; none: it is looked for on the network.</param>
    /// <param name="cluster">The name of the cluster.</param>
    /// <param name="discovery">How to look for the service.</param>
    /// <param name="reader">Gets what comes.</param>
    /// <param name="logger">For failures of the network.</param>
    public ClusterObserver(
        INodeEnvironment environment,
        ImmutableArray<IPEndPoint> servers,
        string cluster,
        DiscoveryOptions discovery,
        IClusterSnapshotReader reader,
        ILogger logger)
    {
        _environment = environment;
        _servers = servers;
        _cluster = cluster;
        _discovery = new DiscoveryContext(environment, discovery, cluster, new ClientCounters(), logger);
        _reader = reader;
        _answers = new ClusterAnswers(reader, OnWhole);
        _deadline = new Alarm(OnDeadline);
    }

    /// <summary>Where the service is; null before it is found.</summary>
    public IPEndPoint? Service => _service;

    /// <summary>The certificates of the servers to which the observer has connected.</summary>
    public ImmutableDictionary<IPEndPoint, PeerCertificate> Certificates { get; private set; } =
        ImmutableDictionary<IPEndPoint, PeerCertificate>.Empty;

    /// <summary>Whether a server answered that it does not lead, and none was found that does, before the observer ended.</summary>
    public bool IsWithoutLeader => _isOver && _standsBy;

    /// <summary>Why the keys of the observer and of the server that it asked last do not fit, if that ended it.</summary>
    public KeyFault KeyFault { get; private set; }

    /// <summary>
    /// The key under which the nodes of the cluster seal echoes, if it was asked for. Null: they do not seal, or the service is of a
    /// version that does not report it.
    /// </summary>
    public ClusterKey? ClusterKey { get; private set; }

    private static string NoService =>
        "It is no membership service of QuickSilver, or one of a version without vital signs, or it is overloaded.";

    private static string NotConnected(IPEndPoint service, string reason) =>
        $"Cannot connect to a membership service at {service}: {reason}.";

    /// <summary>Asks for vital signs once; the first call connects. Ask again only after the answer.</summary>
    /// <param name="rows">Rows of regions, and of topics, for each node: from 1 to <see cref="NodeSnapshot.MostRows"/>.</param>
    /// <param name="sendsEchoes">Whether to ask for the key of the cluster too.</param>
    public void Ask(int rows, bool sendsEchoes = false)
    {
        var watch = new WatchMessage
        {
            Cluster = _cluster,
            ProtocolVersion = ControlFrame.ProtocolVersion,
            Rows = rows,
            SendsEchoes = sendsEchoes,
        };
        Ask(buffer => ControlFrame.Append(buffer, watch));
    }

    /// <summary>Asks once for what the service says of itself; it then ends the connection.</summary>
    public void AskService() => Ask(WatchMessage.OfServiceAlone);

    /// <summary>Asks for topics once, as <see cref="Ask(int, bool)"/>.</summary>
    /// <param name="name">The topic whose contracts are listed; empty: all topics, a page of them.</param>
    /// <param name="after">The last topic of the page before; 0: the first page.</param>
    public void AskTopics(string name, ulong after)
    {
        var list = new ListTopicsMessage
        {
            Cluster = _cluster,
            ProtocolVersion = ControlFrame.ProtocolVersion,
            Name = name,
            After = after,
        };
        Ask(buffer => ControlFrame.Append(buffer, list));
    }

    private void Ask(Action<ControlBuffer> question)
    {
        if (_isOver)
        {
            return;
        }

        if (_question is null)
        {
            _environment.Pauses.Add(this);
        }

        _question = question;

        Await(Patience);
        if (_stream is not null)
        {
            SendQuestion();
        }
        else if (!_servers.IsEmpty)
        {
            Connect(NextServer());
        }
        else
        {
            _search = new ServiceSearch(_discovery, OnFound);
            _search.Begin();
        }
    }

    public void Dispose()
    {
        _isOver = true;
        _environment.Pauses.Remove(this);
        _environment.Cancel(_deadline);
        EndSearch();
        _stream?.Close();
    }

    // The search continues until there is a connection.
    private void OnFound(IPEndPoint service)
    {
        var silent = _stream;
        _stream = null;
        silent?.Close();
        Connect(service);
    }

    // Whether another one is looked for.
    private bool SearchesOn(string reason)
    {
        if (_search is not { } search || _service is not { } service)
        {
            return false;
        }

        _notFound = NotConnected(service, reason);
        (_stream, _service) = (null, null);
        search.OnFailed(service);
        return true;
    }

    private IPEndPoint NextServer()
    {
        var server = _servers[_next];
        _next = (_next + 1) % _servers.Length;
        return server;
    }

    private void Connect(IPEndPoint service)
    {
        _attempts++;
        _isConnected = false;
        ClusterKey = null;
        _service = service;
        _stream = _environment.Connect(service, this);
    }

    // One server does not lead any more, or does not answer: the question goes to the one that it names, or to the next. False when each of
    // them was tried, and each may have named another.
    private bool TryAnother(IPEndPoint? successor)
    {
        if (_isOver || (successor is null && _servers.Length < 2) || _attempts >= Math.Max(2, 2 * _servers.Length))
        {
            return false;
        }

        var stream = _stream;
        _stream = null;
        stream?.Close();
        _answers.Clear();
        Await(Patience);
        Connect(successor ?? NextServer());
        return true;
    }

    private void EndSearch()
    {
        _search?.Dispose();
        _search = null;
    }

    // This process stood still: what the service said meanwhile is not read yet, such as why it closed an observer that took nothing.
    void IPauseObserver.OnPause(in Pause pause)
    {
        if (_deadline.IsPending)
        {
            var left = _deadlineAt - _environment.Now + pause.Length;
            var least = pause.Length < ReadTime ? TimeSpan.Zero : ReadTime;
            Await(left > least ? left : least);
        }
    }

    private void Await(TimeSpan time)
    {
        _deadlineAt = _environment.Now + time;
        _environment.Schedule(_deadline, time);
    }

    private void OnDeadline()
    {
        if (TryAnother(successor: null))
        {
            return;
        }

        string limit = $"{Patience.TotalSeconds:0} s";
        End(_service is null
            ? _notFound
                ?? $"No membership service of cluster '{_cluster}' answered on the network of {_environment.LocalAddress} within {limit}. "
                + "Check the name of the cluster and the secret, or give the address of the service: one with another secret does not "
                + "answer."
            : !_isConnected
                ? $"Timed out after {limit} connecting to {_service}. Check the address and the firewall."
                : $"The process at {_service} did not answer within {limit}. {NoService}");
    }

    void IControlStreamHandler.OnConnected(IControlStream stream)
    {
        if (stream == _stream)
        {
            KeyFault = KeyFault.None;
            if (_search is not null)
            {
                EndSearch();
                _attempts = 1;
            }

            _isConnected = true;
            if (stream.PeerCertificate is { } certificate)
            {
                Certificates = Certificates.SetItem(_service!, certificate);
            }

            SendQuestion();
        }
    }

    int IControlStreamHandler.OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        int consumed = 0;
        while (!_isOver && stream == _stream)
        {
            if (!_hasAnswered && ControlFrame.IsTlsAlert(bytes))
            {
                KeyFault = KeyFault.ClientWithoutKey;
                End($"The membership service at {_service} requires security: it uses TLS, and this observer has no key.");
                break;
            }

            var rest = bytes[consumed..];
            var outcome = ControlFrame.TryCut(rest, ControlFrame.MaxFromServiceBytes, out int kind, out var body, out int length);
            if (outcome == FrameOutcome.Incomplete)
            {
                return consumed;
            }

            string? fault = outcome == FrameOutcome.Garbage ? "invalid frame" : Handle(kind, body);
            if (fault is not null)
            {
                End($"The process at {_service} does not speak as a membership service of QuickSilver does: {fault}.");
            }

            consumed += length;
        }

        return bytes.Length;
    }

    void IControlStreamHandler.OnClosed(IControlStream stream, string reason)
    {
        if (stream == _stream)
        {
            KeyFault = stream.KeyFault;
        }

        if (stream == _stream && !SearchesOn(reason) && !TryAnother(successor: null))
        {
            End(!_isConnected ? NotConnected(_service!, reason)
                : !_hasAnswered && stream.Peer is not null ? $"Cannot watch the cluster: {reason}."
                : !_hasAnswered ? $"The process at {_service} closed the connection without an answer. {NoService}"
                : $"The membership service at {_service} closed the connection: {reason}.");
        }
    }

    private void SendQuestion()
    {
        _buffer.Clear();
        _question?.Invoke(_buffer);
        _stream?.Send(_buffer.Written);
    }

    // Null, or what is wrong.
    private string? Handle(int kind, ReadOnlySpan<byte> body)
    {
        string? fault = null;
        switch (kind)
        {
            case ControlMessageKind.ClusterSnapshot when ControlFrame.TryRead<ClusterSnapshotMessage>(body, out var header, out fault):
                return _answers.Begin(header);
            case ControlMessageKind.MemberSnapshot when ControlFrame.TryRead<MemberSnapshotMessage>(body, out var node, out fault):
                return _answers.Add(node);
            case ControlMessageKind.Inquiry when ControlFrame.TryRead<InquiryMessage>(body, out var inquiry, out fault):
                ClusterKey = inquiry.ClusterKey;
                return null;
            case ControlMessageKind.TopicList when ControlFrame.TryRead<TopicListMessage>(body, out var list, out fault):
                return _answers.Begin(list);
            case ControlMessageKind.ListedTopic when ControlFrame.TryRead<ListedTopicMessage>(body, out var topic, out fault):
                return _answers.Add(topic);
            case ControlMessageKind.Refused when ControlFrame.TryRead(body, kind, ReasonMessage.Read, out var refused, out fault):
                End(refused.Reason, isRefusal: true);
                return null;
            case ControlMessageKind.Goodbye when ControlFrame.TryRead<GoodbyeMessage>(body, out var goodbye, out fault):
                _standsBy = true;
                if (!TryAnother(goodbye.Successor))
                {
                    End(_hasAnswered
                        ? $"The membership service at {_service} has ended."
                        : $"The server at {_service} does not lead, and it names no other server that does.");
                }

                return null;
            default:
                // A newer service's message is skipped.
                return fault is null ? null : $"invalid message of kind {kind}: {fault}";
        }
    }

    private void OnWhole()
    {
        _hasAnswered = true;
        _standsBy = false;
        _attempts = 0;
        _environment.Cancel(_deadline);
    }

    private void End(string reason, bool isRefusal = false)
    {
        if (!_isOver)
        {
            Dispose();
            _reader.OnEnded(reason, isRefusal);
        }
    }
}

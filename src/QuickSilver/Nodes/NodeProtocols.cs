using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;
using QuickSilver.Transfers;

namespace QuickSilver.Nodes;

// The protocols of a node: those that it has from its start, and those that are registered when a topic is first opened with them. Each is
// created with the first topic of its guarantee. Core thread only, unless stated otherwise.
internal sealed class NodeProtocols(IEndpointNode node, INodeParts parts) : IProtocolNode
{
    private readonly Lock _lock = new();
    // The protocols that were registered, by guarantee. Null until the first.
    private Dictionary<string, TopicProtocolFactory>? _registered;
    // The protocols of the topics opened so far; null until the first.
    private List<(string Guarantee, ITopicProtocol Protocol)>? _created;
    // Null until the first.
    private List<NodeTransfers>? _transfers;
    // The prefixes of the logs that protocols have opened. Null until the first.
    private HashSet<string>? _logs;
    // Of the topics whose endpoints asked for something. Null until the first.
    private Dictionary<ulong, ProtocolSettings>? _settings;
    private long _exceptions;

    /// <summary>Opens the inbox of the node. Set once, before the first topic.</summary>
    public Func<Inbox>? Inbox { get; set; }

    /// <summary>Reports that something waits. Set once, before the first topic.</summary>
    public Action? Waits { get; set; }

    /// <summary>The meter of the node; null: it has none.</summary>
    public Func<NodeMeter?>? Meter { get; set; }

    /// <summary>Whether the service has removed the node, or was not heard for longer than its heartbeat limit. Set once.</summary>
    public required Func<bool> MayBeRemoved { get; init; }

    public bool IsServiceHeard => !MayBeRemoved();

    public INodeEnvironment Environment => node.Environment;

    public IMulticast Multicast => parts.Multicast;

    public ILogger Log => node.Log;

    public NodeKey Self => parts.Membership.Self;

    public NodeRoster Roster => parts.Membership.Roster;

    public Troubles Troubles => node.Troubles;

    private Inbox OwnInbox => (Inbox ?? throw new InvalidOperationException("The node has no inbox."))();

    public IPacketExchange Packets => parts.Multicast.Packets;

    public NamedNode Named(NodeKey key) => node.Names.Named(key);

    public TopicView? ViewOf(ulong topicId) => parts.ViewOf(topicId);

    public RegionView? RegionOf(ulong region) => parts.RegionOf(region);

    public void OnWait() => Waits?.Invoke();

    public ILetters OpenLetters(string protocol, ILetterReader reader) =>
        new ProtocolLetters(OwnInbox, node, protocol, reader).Begin(new NodeId(Self.Id, Self.Incarnation));

    public ITransfers OpenTransfers(string protocol, ITransferSource source)
    {
        var transfers = new NodeTransfers(this, node, OwnInbox.Routes, protocol, source);
        (_transfers ??= []).Add(transfers);
        return transfers;
    }

    public ProtocolLogs OpenLogs(string protocol)
    {
        var logs = new ProtocolLogs(Environment, protocol);
        return (_logs ??= new(StringComparer.Ordinal)).Add(logs.Prefix) ? logs : throw new InvalidOperationException(
            $"The logs of the protocol {protocol} are open already, or those of another protocol have the same names ({logs.Prefix}). Open "
            + "them once, or rename the guarantee of one of the protocols.");
    }

    /// <summary>
    /// From any thread: the protocol that an endpoint asks for. One that the node does not have yet is registered.
    /// </summary>
    /// <exception cref="NotSupportedException">No protocol of this node provides the guarantee.</exception>
    /// <exception cref="InvalidOperationException">Another protocol of the node provides the guarantee.</exception>
    public TopicProtocolFactory FactoryOf(TopicOptions options)
    {
        string guarantee = options.GuaranteeName;
        if (options.Protocol is { } choice)
        {
            lock (_lock)
            {
                _registered ??= new(StringComparer.Ordinal);
                _registered.TryAdd(guarantee, choice.Factory);
            }
        }

        var known = Find(guarantee);
        return options.Protocol is null || known == options.Protocol.Factory ? known : throw new InvalidOperationException(
            $"Another protocol of this node provides the guarantee {guarantee}. Give one of them another name.");
    }

    /// <summary>The protocol that implements a guarantee.</summary>
    public ITopicProtocol Of(string guarantee)
    {
        foreach (var (known, protocol) in _created ??= new(1))
        {
            if (known == guarantee)
            {
                return protocol;
            }
        }

        var created = parts.Protocols.Create(Find(guarantee), this);
        _created.Add((guarantee, created));
        Meter?.Invoke()?.Add(created.Counters);
        return created;
    }

    // Those that the node has from its start come first.
    private TopicProtocolFactory Find(string guarantee)
    {
        lock (_lock)
        {
            return parts.Protocols.Find(guarantee) ?? _registered?.GetValueOrDefault(guarantee) ?? throw new NotSupportedException(
                $"No protocol of this node provides the guarantee {guarantee}. Available guarantees: "
                + $"{string.Join(", ", parts.Protocols.Guarantees)}.");
        }
    }

    /// <summary>An endpoint is the first of its topic on this node, and asks for this.</summary>
    public void Set(ulong topicId, ProtocolSettings settings) => (_settings ??= []).TryAdd(topicId, settings);

    /// <summary>What the first endpoint of the topic asked for; null: nothing.</summary>
    public ProtocolSettings? SettingsOf(ulong topicId) => _settings?.GetValueOrDefault(topicId);

    /// <summary>The topic is closed.</summary>
    public void Forget(ulong topicId) => _settings?.Remove(topicId);

    public void OnConfiguration()
    {
        // A node that could not apply a configuration would leave the cluster, with the topics of all protocols.
        foreach (var (guarantee, protocol) in _created ?? [])
        {
            Call(guarantee, protocol.OnConfiguration);
        }
    }

    public void AddWaits(List<IProtocolWait> waits)
    {
        foreach (var (guarantee, protocol) in _created ?? [])
        {
            Call(guarantee, () => protocol.AddWaits(waits));
        }

        foreach (var transfers in _transfers ?? [])
        {
            transfers.AddWaits(waits);
        }
    }

    /// <summary>Adds what the protocols report of their topics.</summary>
    public void AddSigns(List<ProtocolSnapshot> signs)
    {
        foreach (var (guarantee, protocol) in _created ?? [])
        {
            Call(guarantee, () => protocol.AddSigns(signs));
        }
    }

    /// <summary>The endpoints have ended.</summary>
    public void Close()
    {
        // What follows is that the node leaves.
        foreach (var (guarantee, protocol) in _created ?? [])
        {
            Call(guarantee, protocol.Close);
        }

        foreach (var transfers in _transfers ?? [])
        {
            transfers.Close();
        }
    }

    // A protocol that throws must not keep the others from being called.
    private void Call(string guarantee, Action call)
    {
        try
        {
            call();
        }
        catch (Exception exception)
        {
            if (RepeatedEvent.IsLogged(++_exceptions))
            {
                ApiLog.ProtocolThrew(Log, exception, guarantee, _exceptions);
            }
        }
    }
}

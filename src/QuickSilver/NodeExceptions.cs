using System.Globalization;
using System.Net;

namespace QuickSilver;

/// <summary>
/// The exception that is thrown when no membership service was found or could be hosted in time, or when the host name of the service has
/// no IPv4 address. The message says which.
/// </summary>
/// <param name="message">What failed, and why.</param>
/// <param name="innerException">The exception of the system, if any.</param>
public sealed class MembershipUnreachableException(string message, Exception? innerException = null)
    : QuickSilverException(message, innerException)
{
    /// <summary>How long the start has waited (<see cref="QuickSilverOptions.StartTimeout"/>). Null: it did not wait.</summary>
    public TimeSpan? Timeout { get; internal init; }

    /// <summary>The host name that has no address. Null: no name was looked for, or it has one.</summary>
    public string? HostName { get; internal init; }
}

/// <summary>
/// The exception that is thrown when a node that may host the membership service starts and another program holds
/// <see cref="QuickSilverOptions.DiscoveryPort"/> for itself, so that other nodes could not find this one.
/// </summary>
public sealed class PortInUseException : QuickSilverException
{
    internal PortInUseException(int port, string? holder)
        : base(
            $"The UDP port {port}, at which this node would be discovered ({nameof(QuickSilverOptions.DiscoveryPort)}), is in use by "
            + $"{holder ?? "another program, which the system does not name"}. That program does not share it. End it, use another "
            + $"{nameof(QuickSilverOptions.DiscoveryPort)} on all nodes of the cluster, or name the servers of a "
            + $"service ({MembershipOptions.ServersKey}), which needs no discovery.")
    {
        Port = port;
        Holder = holder;
    }

    /// <summary>The UDP port.</summary>
    public int Port { get; }

    /// <summary>The program that holds the port, such as "process 4711 (dnsmasq)"; null if the system does not report it.</summary>
    public string? Holder { get; }
}

/// <summary>
/// The exception that is thrown when a message is published to a topic with <see cref="TopicOptions.RequireQuorum"/>, or after <see
/// cref="TopicOptions.ServiceLossLimit"/>, while the node is without the membership service. The message was not accepted. Messages
/// accepted before are still sent.
/// </summary>
public sealed class QuorumLostException : QuickSilverException
{
    internal QuorumLostException(string topic, DateTimeOffset since)
        : base(
            $"The topic \"{topic}\" does not accept the message: this node has not heard the membership service since "
            + $"{since.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss", CultureInfo.InvariantCulture)} UTC, so it may be cut off from the "
            + "cluster. Restore the network to the service, or start it again. Publish again when the node is ready; it reconnects by "
            + $"itself. To publish without the service, open the topic without {nameof(TopicOptions.RequireQuorum)} and "
            + $"{nameof(TopicOptions.ServiceLossLimit)}.")
    {
        Topic = topic;
        Since = since;
    }

    /// <summary>The name of the topic.</summary>
    public string Topic { get; }

    /// <summary>When the node last heard the membership service, by the clock of its machine.</summary>
    public DateTimeOffset Since { get; }
}

/// <summary>
/// The exception that is thrown when the membership service does not report which topics begin with a prefix, most likely because it is of
/// an earlier version, which knows no prefixes.
/// </summary>
public sealed class PrefixUnansweredException : QuickSilverException
{
    internal PrefixUnansweredException(string prefix, IPEndPoint service, TimeSpan limit)
        : base(
            $"The prefix \"{prefix}\" cannot be opened: the membership service at {service} did not report within {limit} which topics "
            + "begin with it. It most likely has a version without prefixes. Update the program that hosts the service, or open the topics "
            + "one by one. If it has this version, look at its load and its log, and try again.")
    {
        Prefix = prefix;
        Service = service;
        Timeout = limit;
    }

    /// <summary>The prefix.</summary>
    public string Prefix { get; }

    /// <summary>The address of the membership service.</summary>
    public IPEndPoint Service { get; }

    /// <summary>How long the service did not answer.</summary>
    public TimeSpan Timeout { get; }
}

/// <summary>
/// The exception that is thrown when this incarnation of the node is no longer a member: the membership service removed it, for example
/// after a pause longer than its heartbeats allow, or the node left because the system refused required resources for too long. Messages
/// that were not stable may be lost. Start a new node.
/// </summary>
public sealed class NodeExpelledException : QuickSilverException
{
    /// <summary>Initializes the exception for a node that the membership service removed.</summary>
    /// <param name="reason">The reason, as the end of a sentence.</param>
    public NodeExpelledException(string reason)
        : this("The membership service removed this node", reason)
    {
    }

    private NodeExpelledException(string what, string why)
        : base($"{what}: {why}. Start a new node, which joins as a new incarnation.") =>
        Reason = why;

    /// <summary>The reason, as the end of a sentence, such as "ten heartbeats missed".</summary>
    public string Reason { get; }

    /// <summary>Whether the node left because the system refused required resources. False: the membership service removed it.</summary>
    public bool HasLeft { get; private init; }

    internal static NodeExpelledException ByItself(string reason) =>
        new("This node left the cluster", reason) { HasLeft = true };
}

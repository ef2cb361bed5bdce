namespace QuickSilver;

/// <summary>
/// Whether a node without <see cref="MembershipOptions.Servers"/> finds a membership service, hosts one, or both.
/// </summary>
public enum MembershipMode
{
    /// <summary>The node looks for a service on the network of its interface, and hosts one if there is none.</summary>
    FindOrHost = 0,

    /// <summary>
    /// The node looks for a service and never hosts one. Its start fails if there is none within
    /// <see cref="QuickSilverOptions.StartTimeout"/>.
    /// </summary>
    Find = 1,

    /// <summary>
    /// The node hosts a service at once, without looking for one first. If several nodes of a cluster do, all but one end theirs when they
    /// find each other.
    /// </summary>
    Host = 2,
}

/// <summary>
/// How a node comes to a membership service: the servers of one, or one that the nodes find and host by themselves. The node takes a copy
/// when it starts, with one of the list, so a later change has no effect.
/// </summary>
public sealed class MembershipOptions
{
    internal const string ServersKey = $"{nameof(QuickSilverOptions.Membership)}:{nameof(Servers)}";
    internal const string ModeKey = $"{nameof(QuickSilverOptions.Membership)}:{nameof(Mode)}";
    internal const string HostedKey = $"{nameof(QuickSilverOptions.Membership)}:{nameof(Hosted)}";

    /// <summary>
    /// The servers of the membership service: the "host:port" of each, with an IPv6 address in brackets ("[fd00::1]:7400"). At most 64. A
    /// host name may have several addresses. The node tries them in turn, and a server that does not lead names the one that does. While
    /// none takes the node in, it resolves the names again, so servers may come back with other addresses. Empty (default): embedded
    /// membership. The node looks for a service on the network of its interface, and hosts one if there is none.
    /// </summary>
    public IList<string> Servers { get; set; } = [];

    /// <summary>
    /// Whether a node without <see cref="Servers"/> finds a service, hosts one, or both. Default:
    /// <see cref="MembershipMode.FindOrHost"/>. A node with <see cref="Servers"/> does neither, and <see cref="MembershipMode.Host"/> is
    /// then refused. When a hosted service ends, the nodes that may host agree on the next host; nodes that only find wait for one.
    /// </summary>
    public MembershipMode Mode { get; set; } = MembershipMode.FindOrHost;

    /// <summary>What applies if this node hosts the membership service.</summary>
    public EmbeddedServiceOptions Hosted { get; set; } = new();

    /// <summary>Whether the servers are named, so that the node neither looks for a service nor hosts one.</summary>
    internal bool HasServers => Servers.Count > 0;

    /// <summary>The servers as messages name them; null: none are named.</summary>
    internal string? ServersInWords => HasServers ? string.Join(", ", Servers) : null;

    /// <summary>A copy that shares neither the list nor the group with this.</summary>
    internal MembershipOptions Copy()
    {
        var copy = (MembershipOptions)MemberwiseClone();
        copy.Servers = Servers is null ? null! : [.. Servers];
        copy.Hosted = Hosted?.Copy()!;
        return copy;
    }
}

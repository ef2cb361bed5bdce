using System.Collections.Immutable;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Configurations;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Service.Watching;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// A live node as the service knows it; it outlives its session by the reconnection grace.
internal sealed class Member(NodeInfo info, JoinMessage join, KeptBytes kept)
{
    public NodeInfo Info { get; set; } = info;

    public NodeKey Key => Info.Key;

    public NamedNode Named => new(Info.Key, Info.Name);

    /// <summary>Its process, as it reported it when it joined.</summary>
    public ProcessLabel Process { get; } = join.Process;

    public ControlSession? Session { get; set; }

    /// <summary>The identity that it has proved; null without security.</summary>
    public string? Identity { get; set; }

    /// <summary>Whether it has shown that its key is its own.</summary>
    public bool IsProved { get; set; } = join.IsProved;

    /// <summary>Not yet in any configuration: no other member knows it.</summary>
    public bool IsNew { get; set; } = true;

    /// <summary>It was a member under another service and may still have to settle what it sent there.</summary>
    public bool WasMember { get; } = join.WasMember;

    /// <summary>Whether it answers questions for its vital signs.</summary>
    public bool ReportsSigns { get; } = join.ReportsSigns;

    /// <summary>Its last report of its vital signs; null until an observer watches.</summary>
    public MemberSnapshot? Signs { get; set; }

    public long Confirmed { get; set; }

    /// <summary>What it has not settled of the views that were superseded until then.</summary>
    public ImmutableArray<OpenView> OpenViews { get; set; } = [];

    public TimeSpan LastHeard { get; set; }

    /// <summary>The number of pauses that it has reported.</summary>
    public long Pauses { get; set; }

    /// <summary>Before this, a pause that it reports changes nothing, unless the pause is much longer than earlier ones.</summary>
    public TimeSpan MayBeExcusedAt { get; set; }

    public TimeSpan LongestExcused { get; set; }

    /// <summary>The newest topic request that was handled.</summary>
    public ulong LastRequest { get; set; }

    public NamedContracts Contracts { get; } = new();

    public ConfigurationBacklog Backlog { get; } = new(kept);
}

using QuickSilver.Groups.Questions;
using QuickSilver.Groups.States;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Groups.Protocol;

// What one opening of a group asks for on its node. A node is in a group once: the settings of the first opening are used.
internal sealed class GroupSettings : ProtocolSettings
{
    private volatile bool _isUsed;

    /// <summary>
    /// Core thread: makes a member with a state known to the protocol, so that other members can ask it. Set when the group is opened. Null
    /// is returned if the group is closed.
    /// </summary>
    public Func<IStateMember, StateSeeker?>? Join { get; set; }

    /// <summary>Whether the order moves to the member that sends alone.</summary>
    public bool OrderFollowsTraffic { get; init; } = true;

    /// <summary>Whether events wait while the membership service is not heard.</summary>
    public bool PrimaryPartitionOnly { get; init; }

    /// <summary>The questions of this node in the group. Set when the group is opened. Core thread.</summary>
    public AskedQuestions? Asked { get; set; }

    /// <summary>From any thread: the application has ignored a message. Set when the group is opened.</summary>
    public Action? OnIgnored { get; set; }

    /// <summary>From any thread: whether the group of this node is the one that was opened with these settings.</summary>
    public bool IsUsed
    {
        get => _isUsed;
        set => _isUsed = value;
    }
}

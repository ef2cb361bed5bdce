using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// The members, in the order of joining and by their ids, and when each was heard.
//
// Invariants: at most one member has an id. The failure detector watches exactly the members.
internal sealed class MemberTable(FailureDetector failures)
{
    private readonly List<Member> _members = [];
    private readonly Dictionary<ulong, Member> _byId = [];

    public int Count => _members.Count;

    /// <summary>In the order of joining.</summary>
    public IReadOnlyList<Member> All => _members;

    public Member this[int index] => _members[index];

    /// <summary>In the order of joining, and without an allocation.</summary>
    public List<Member>.Enumerator GetEnumerator() => _members.GetEnumerator();

    public Member? Find(NodeKey node) => FindById(node.Id) is { } member && member.Key == node ? member : null;

    /// <summary>The member that has this id, in whichever of its incarnations.</summary>
    public Member? FindById(ulong id) => _byId.GetValueOrDefault(id);

    public List<Member> FindAll(Predicate<Member> match) => _members.FindAll(match);

    public bool Exists(Predicate<Member> match) => _members.Exists(match);

    public void Add(Member member, TimeSpan now)
    {
        if (!_byId.TryAdd(member.Key.Id, member))
        {
            throw new InvalidOperationException($"The id of {member.Key} is that of a member.");
        }

        _members.Add(member);
        failures.Track(member.Key, now);
    }

    /// <summary>Legal for one that is removed already, because a node that joins may report the end of one life twice.</summary>
    public void Remove(Member member)
    {
        if (_members.Remove(member))
        {
            _byId.Remove(member.Key.Id);
            failures.Forget(member.Key);
        }
    }

    /// <summary>A message of the member came.</summary>
    public void Hear(Member member, TimeSpan now)
    {
        member.LastHeard = now;
        failures.Heard(member.Key, now);
    }

    /// <summary>The member's session is closed, and it has no other one.</summary>
    public void Disconnect(Member member, TimeSpan now)
    {
        member.Session = null;
        failures.Disconnected(member.Key, now);
    }
}

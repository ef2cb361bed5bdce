using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Topics;

namespace QuickSilver.Membership.Service.Watching;

// Members that follow topics: each gives a prefix, gets the published topics whose names begin with it, and then the changes.
//
// Intuition: a member that asks gets all topics, and then each change that a request makes. Application: topics that requests touch are
// collected for a moment and looked at once, so that a node that opens thousands at a time costs a few messages. While no member follows,
// nothing is collected. What goes wrong: the connection is lost (the member asks again on the next one, and gets all topics again). There
// are more topics than the member wants (it gets the number of the others, and some of them when others have gone). A topic's last
// publisher closes it and another opens it in the same moment (nothing is sent).
internal sealed class TopicFollowers : IDisposable
{
    private static readonly TimeSpan NewsInterval = TimeSpan.FromMilliseconds(20);

    private readonly RegionMap _map;
    private readonly ContractRegistry _contracts;
    private readonly SessionContext _context;
    private readonly Alarm _alarm;
    // In the order of their asking.
    private readonly List<Follower> _all = [];
    private readonly HashSet<ulong> _touched = [];

    private sealed class Follower(Member member, FollowTopicsMessage request)
    {
        public readonly Member Member = member;
        public readonly ControlSession? Session = member.Session;
        public readonly FollowTopicsMessage Request = request;
        public readonly Dictionary<ulong, string> Reported = [];
        public int Beyond;

        public bool Wants(string name) => name.StartsWith(Request.Prefix, StringComparison.Ordinal);

        public bool IsFull => Reported.Count >= Request.Most;
    }

    public TopicFollowers(RegionMap map, ContractRegistry contracts, SessionContext context)
    {
        _map = map;
        _contracts = contracts;
        _context = context;
        _alarm = new Alarm(ReportNews);
    }

    public void OnFollow(Member member, FollowTopicsMessage request)
    {
        _all.RemoveAll(other => other.Member == member && (other.Request.Id == request.Id || other.Session != member.Session));
        if (request.Most == 0)
        {
            return;
        }

        if (_all.Count(other => other.Member == member) >= FollowTopicsMessage.MostPerMember)
        {
            member.Session?.Close($"the node follows more than {FollowTopicsMessage.MostPerMember} prefixes");
            return;
        }

        var follower = new Follower(member, request);
        _all.Add(follower);
        Compare(follower, isFirst: true);
    }

    /// <summary>A request changed which nodes have the topic open.</summary>
    public void Touch(ulong topicId)
    {
        if (_all.Count > 0 && _touched.Add(topicId) && !_alarm.IsPending)
        {
            _context.Environment.Schedule(_alarm, NewsInterval);
        }
    }

    public void Dispose()
    {
        _context.Environment.Cancel(_alarm);
        _all.Clear();
    }

    private void ReportNews()
    {
        _all.RemoveAll(static follower => follower.Session is null || follower.Member.Session != follower.Session);
        var topics = _touched.Order().Select(id => (Id: id, Name: _contracts.NameOf(id), IsPublished: IsPublished(id))).ToList();
        _touched.Clear();
        foreach (var follower in _all)
        {
            if (follower.IsFull || follower.Beyond > 0)
            {
                // Which topics are left out is not remembered.
                Compare(follower, isFirst: false);
                continue;
            }

            var published = new List<string>();
            var gone = new List<string>();
            bool isFull = false;
            foreach (var (id, name, isPublished) in topics)
            {
                if (!isPublished && follower.Reported.Remove(id, out string? goneName))
                {
                    gone.Add(goneName);
                }
                else if (isPublished && follower.Wants(name!) && !follower.Reported.ContainsKey(id))
                {
                    isFull |= follower.IsFull;
                    if (!isFull)
                    {
                        follower.Reported.Add(id, name!);
                        published.Add(name!);
                    }
                }
            }

            Send(follower, published, gone, isFirst: false);
            if (isFull)
            {
                Compare(follower, isFirst: false);
            }
        }
    }

    // Looks at all topics.
    private void Compare(Follower follower, bool isFirst)
    {
        var gone = new List<string>();
        foreach (var (id, name) in follower.Reported.OrderBy(static one => one.Key).ToArray())
        {
            if (!IsPublished(id))
            {
                follower.Reported.Remove(id);
                gone.Add(name);
            }
        }

        var published = new List<string>();
        int beyond = 0;
        foreach (var (id, name) in _contracts.BeginningWith(follower.Request.Prefix))
        {
            if (follower.Reported.ContainsKey(id) || !IsPublished(id))
            {
                continue;
            }

            if (follower.IsFull)
            {
                beyond++;
                continue;
            }

            follower.Reported.Add(id, name);
            published.Add(name);
        }

        bool isOther = follower.Beyond != beyond;
        follower.Beyond = beyond;
        Send(follower, published, gone, isFirst, isOther);
    }

    private static void Send(Follower follower, List<string> published, List<string> gone, bool isFirst, bool isOther = false)
    {
        int count = published.Count + gone.Count;
        if (count == 0 && !isFirst && !isOther)
        {
            return;
        }

        for (int i = 0; i < Math.Max(count, 1); i += FollowedTopicsMessage.MostNames)
        {
            int end = i + FollowedTopicsMessage.MostNames;
            follower.Session!.Send(new FollowedTopicsMessage
            {
                Id = follower.Request.Id,
                Begins = isFirst && i == 0,
                Ends = isFirst && end >= count,
                Beyond = follower.Beyond,
                Gone = [.. gone.Skip(i).Take(FollowedTopicsMessage.MostNames)],
                Published = [.. published.Skip(Math.Max(0, i - gone.Count)).Take(Math.Max(0, end - Math.Max(i, gone.Count)))],
            });
        }
    }

    // Inboxes are for one node alone, so they are not listed.
    private bool IsPublished(ulong id)
    {
        if (!_map.Topics.TryGetValue(id, out var topic) || topic.IsPinned || _contracts.NameOf(id) is null)
        {
            return false;
        }

        foreach (var opener in topic.Openers)
        {
            if (opener.Publishes)
            {
                return true;
            }
        }

        return false;
    }
}

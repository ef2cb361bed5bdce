using QuickSilver.Groups;

namespace QuickSilver.Seeds.Tests.Groups;

// A question of one member, and what came of it. Each member of the view in which the group delivered it gives one reply, and none is
// reported as left that stays.
internal sealed class AskedLog(MemberLog asker, int number)
{
    public List<GroupReply<string>> Replies { get; } = [];

    public void Check()
    {
        int at = asker.Views.ToList().FindIndex(view => view.Messages.Exists(one => one.Sender == asker.Self && one.Number == number));
        Assert.True(at >= 0, $"{asker} has replies to question {number}, and has not got it.");
        var view = asker.Views[at].View;
        Assert.Equal(Replies.Count, Replies.Select(static one => one.Member).Distinct().Count());
        Assert.True(
            Replies.Select(static one => one.Member).ToHashSet().SetEquals(view.Members),
            $"{asker} has replies of {string.Join(", ", Replies.Select(static one => one.Member))} to question {number} in {view}.");
        foreach (var reply in Replies)
        {
            bool isRight = reply.Outcome switch
            {
                GroupReplyOutcome.Answered => reply.Value!.StartsWith($"{number}/", StringComparison.Ordinal),
                GroupReplyOutcome.Left => asker.Views.Skip(at + 1).Any(later => later.View.RankOf(reply.Member) < 0),
                _ => false,
            };
            Assert.True(isRight, $"{asker} has {reply} to question {number} in {view}.");
        }
    }
}

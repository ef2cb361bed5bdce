using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Sessions;


namespace QuickSilver.Membership.Service.Configurations;

// One member's part of a configuration, framed. The nodes that joined and left are the same for all members, and the news of topics and
// regions for all that know the same ones: these bytes exist once, however many members they wait for. Own are the member's own, a few.
internal readonly record struct ConfigurationFrames(SharedFrames Nodes, SharedFrames News, SharedFrames Own)
{
    /// <summary>Their part of what the service keeps.</summary>
    public long Share => Nodes.Share + News.Share + Own.Share;

    public int Length => Nodes.Length + News.Length + Own.Length;

    public void SendTo(ControlSession? session)
    {
        session?.SendShared(Nodes);
        session?.SendShared(News);
        session?.SendShared(Own);
    }

    public void KeepIn(KeptBytes kept)
    {
        kept.Keep(Nodes);
        kept.Keep(News);
        kept.Keep(Own);
    }

    public void DropFrom(KeptBytes kept)
    {
        kept.Drop(Nodes);
        kept.Drop(News);
        kept.Drop(Own);
    }
}

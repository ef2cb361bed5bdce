namespace QuickSilver.Membership.Service;

// One configuration as one member is told it, framed. Who came and went is the same for all members, and the news of topics
// and regions for all that know the same ones: these bytes exist once, however many members they wait for. Own are the
// member's own, a few.
internal readonly record struct ConfigurationFrames(byte[] Nodes, byte[] News, byte[] Own)
{
    public int Length => Nodes.Length + News.Length + Own.Length;

    public void SendTo(ControlSession? session)
    {
        session?.SendShared(Nodes);
        session?.SendShared(News);
        session?.SendShared(Own);
    }
}

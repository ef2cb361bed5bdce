namespace QuickSilver.Multicast.Ordering;

// The topics that found no room for a message, in the order in which they came. Each is told once when there is room, and may come to
// wait again from within that call: for the next time.
internal sealed class WaitingTopics
{
    private List<TopicSender> _waiting = [];
    private List<TopicSender> _before = [];

    public List<TopicSender> All => _waiting;

    public void Add(TopicSender topic) => _waiting.Add(topic);

    public void SignalRoom()
    {
        (_waiting, _before) = (_before, _waiting);
        foreach (var topic in _before)
        {
            if (!topic.IsWaiting)
            {
                continue;
            }

            if (topic.HasRoom)
            {
                topic.SignalRoom();
            }
            else
            {
                _waiting.Add(topic);
            }
        }

        _before.Clear();
    }
}

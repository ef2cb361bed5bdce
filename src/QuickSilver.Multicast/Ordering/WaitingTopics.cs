namespace QuickSilver.Multicast.Ordering;

// The topics that found no room for a message, in the order in which they began to wait. Each is notified once when there is room. A topic
// that begins to wait again within that call is notified the next time.
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

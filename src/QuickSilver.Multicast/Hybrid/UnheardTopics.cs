using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Hybrid;

// The topics whose addresses members of some regions have reported not to hear. The sender does not use the address for that region for
// UnheardFor, and then tries again: the member reports it anew if it still does not hear.
internal sealed class UnheardTopics(INodeEnvironment environment)
{
    // The limit of the table. Reports beyond it have no effect, and are repeated.
    public const int Most = 4096;
    private static readonly TimeSpan UnheardFor = TimeSpan.FromSeconds(60);

    private readonly Dictionary<(ulong Topic, ulong Region), TimeSpan> _until = [];

    public void Add(ulong topicId, ulong region)
    {
        if (_until.Count >= Most)
        {
            RemoveOver();
        }

        if (_until.Count < Most || _until.ContainsKey((topicId, region)))
        {
            _until[(topicId, region)] = environment.Now + UnheardFor;
        }
    }

    public bool Contains(ulong topicId, ulong region) =>
        _until.Count > 0 && _until.TryGetValue((topicId, region), out var until) && environment.Now < until;

    private void RemoveOver()
    {
        foreach (var (key, until) in _until.ToArray())
        {
            if (environment.Now >= until)
            {
                _until.Remove(key);
            }
        }
    }
}

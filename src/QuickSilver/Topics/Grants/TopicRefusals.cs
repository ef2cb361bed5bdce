using Microsoft.Extensions.Logging;
using QuickSilver.Diagnostics;

namespace QuickSilver.Topics.Grants;

// What was logged of topics that were refused. A program may try to open a topic again and again, and a host does: a refusal is logged when
// its reason is new, until the topic is granted. Core thread only.
internal sealed class TopicRefusals
{
    // Beyond, reasons that are known may be logged again.
    private const int MostKnown = 1024;

    // Null until the first.
    private Dictionary<ulong, string>? _known;

    public void OnRefused(ILogger logger, ulong topicId, string topic, string refusal)
    {
        _known ??= [];
        if (_known.TryGetValue(topicId, out string? known) && known == refusal)
        {
            return;
        }

        if (_known.Count >= MostKnown)
        {
            _known.Clear();
        }

        _known[topicId] = refusal;
        ApiLog.TopicRefused(logger, topic, refusal);
    }

    public void OnGranted(ulong topicId) => _known?.Remove(topicId);
}

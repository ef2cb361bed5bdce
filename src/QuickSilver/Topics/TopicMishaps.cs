using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Topics;

// What was lost of a topic, or waits for memory. Core thread only.
internal sealed class TopicMishaps
{
    // The last one that an endpoint could not decode.
    private (NodeId Sender, long Sequence)? _undecodable;

    /// <summary>All that gap notices reported, but for what readers' buffers dropped.</summary>
    public long Messages { get; set; }

    /// <summary>The number of own messages for which there never was room.</summary>
    public long TooLarge { get; set; }

    /// <summary>Null until several endpoints subscribe, or a codec finds no memory.</summary>
    public StarvedMessages? Starved { get; set; }

    /// <summary>An endpoint could not decode a message. False: it is the last one that another endpoint could not decode.</summary>
    public bool TryNoteUndecodable(NodeId sender, long sequence)
    {
        if (_undecodable == (sender, sequence))
        {
            return false;
        }

        _undecodable = (sender, sequence);
        return true;
    }
}

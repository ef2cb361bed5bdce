namespace QuickSilver.Multicast.Channels;

// Notified once when a message is stable: every subscriber of the view it was sent in holds it, or was removed from the view.
internal interface IStabilityObserver
{
    void OnStable(long sequence);

    /// <summary>The message cannot become stable any more (the node stops, or was expelled).</summary>
    void OnAbandoned(long sequence, string reason);
}

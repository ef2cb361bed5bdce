using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Receiving;

// Observes the closing of views on this node.
internal interface IViewsObserver
{
    /// <summary>This view was closed; other views of its region may be open.</summary>
    void OnViewClosed(RegionView view);

    /// <summary>Called once after one or more views were closed together.</summary>
    void OnViewsClosed();

    /// <summary>Called once after streams of senders that are gone were given up.</summary>
    void OnStreamsEnded()
    {
    }

    /// <summary>Some views may be over that were not before.</summary>
    void OnViewsChecked();
}

using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Views;

// Told when views are closed here.
internal interface IViewsObserver
{
    /// <summary>This view was closed; others of its region may be open.</summary>
    void OnViewClosed(RegionView view);

    /// <summary>Once, after some were closed together.</summary>
    void OnViewsClosed();

    /// <summary>Some views may be over that were not before.</summary>
    void OnViewsChecked();
}

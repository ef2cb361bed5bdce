namespace QuickSilver.Core.Flow;

// A policy that says when a sink may pull. What a pull will yield is not known before, so a policy is open or closed, and
// is charged afterwards with what came; it may then be in debt by one turn, which it makes good before it opens again.
internal interface IAdmission
{
    /// <summary>The instant from which a pull is admitted: <paramref name="now"/> if at once, TimeSpan.MaxValue if time
    /// alone will not open it.</summary>
    TimeSpan OpensAt(TimeSpan now);

    /// <summary>Accounts for what a turn yielded.</summary>
    void Charge(TimeSpan now, int items, int bytes);
}

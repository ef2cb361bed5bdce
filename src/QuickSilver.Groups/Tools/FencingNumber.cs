using System.Globalization;

namespace QuickSilver.Groups.Tools;

/// <summary>
/// Which of two holds of a lock is the later one. A resource that the lock protects keeps the highest number that it has seen, and refuses
/// requests with a lower one: so a holder that was paused, and has lost the lock without noticing, can damage nothing.
/// </summary>
/// <remarks>
/// <para>
/// It has two parts, and the first one is compared first, because the number of a view alone takes the 63 bits of a number. That part rises
/// with each view of the group, also if all members have left and the lock begins again, so it orders the holds of all lives of the lock.
/// The second part counts the holds since the lock began.
/// </para>
/// <para>
/// Numbers of views never go back under one membership service that keeps its epoch: <c>qsm gms</c> with <c>--state FILE</c> or with
/// <c>--etcd</c>. A service without either that is started again begins above the numbers of the nodes that return to it. If none
/// returns, it begins anywhere, and fencing numbers may be lower than before.
/// </para>
/// </remarks>
/// <param name="View">The number of the view in which the lock was granted.</param>
/// <param name="Grant">How often the lock was granted since it began, this time included.</param>
public readonly record struct FencingNumber(long View, long Grant) : IComparable<FencingNumber>
{
    /// <summary>Whether a number is lower than another.</summary>
    public static bool operator <(FencingNumber left, FencingNumber right) => left.CompareTo(right) < 0;

    /// <summary>Whether a number is lower than another, or the same.</summary>
    public static bool operator <=(FencingNumber left, FencingNumber right) => left.CompareTo(right) <= 0;

    /// <summary>Whether a number is higher than another.</summary>
    public static bool operator >(FencingNumber left, FencingNumber right) => left.CompareTo(right) > 0;

    /// <summary>Whether a number is higher than another, or the same.</summary>
    public static bool operator >=(FencingNumber left, FencingNumber right) => left.CompareTo(right) >= 0;

    /// <inheritdoc/>
    public int CompareTo(FencingNumber other) => View != other.View ? View.CompareTo(other.View) : Grant.CompareTo(other.Grant);

    /// <summary>The number as text of 39 characters, which sorts as the numbers do.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{View:D19}.{Grant:D19}");
}

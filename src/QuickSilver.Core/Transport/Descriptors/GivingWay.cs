using System.Net;

namespace QuickSilver.Core.Transport.Descriptors;

// Which of those that hold a place, and have not shown yet that they are worth it, gives way to a newcomer: the oldest of the address that
// has the most places. An address that has about as many as the newcomer's does not give way: the two would take places from each other.
internal static class GivingWay
{
    /// <summary>The one that gives way to the newcomer; null: none.</summary>
    /// <param name="oldestFirst">Those that hold a place, with their addresses.</param>
    /// <param name="of">How many places an address has.</param>
    /// <param name="ofNewcomer">How many places the newcomer's address has.</param>
    public static T? Find<T>(IEnumerable<(IPAddress Address, T One)> oldestFirst, Func<IPAddress, int> of, int ofNewcomer)
        where T : class
    {
        T? found = null;
        int most = ofNewcomer == 0 ? 0 : ofNewcomer + 1;
        foreach (var (address, one) in oldestFirst)
        {
            int ofAddress = of(address);
            if (ofAddress > most)
            {
                (found, most) = (one, ofAddress);
            }
        }

        return found;
    }
}

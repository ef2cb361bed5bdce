using System.Net;
using QuickSilver.Tool.Dashboard;

namespace QuickSilver.Tool.Tests.Dashboard;

public sealed class DashboardPlacesTests
{
    private const int Most = 8;
    private const int MostOfAddress = 4;

    private readonly List<string> _notes = [];
    private readonly List<int> _aborted = [];
    private readonly DashboardPlaces _places;
    private int _next;

    public DashboardPlacesTests()
    {
        _places = new DashboardPlaces(Most, MostOfAddress, _notes.Add);
    }

    [Fact]
    public void An_address_that_holds_its_share_gives_up_its_own_oldest_stranger()
    {
        Take(1, MostOfAddress);
        Assert.True(Take(1));
        Assert.Equal([0], _aborted);
        Assert.True(Take(2));
        Assert.Equal([0], _aborted);
    }

    [Fact]
    public void An_admitted_user_keeps_its_place_and_strangers_of_the_address_with_the_most_give_way()
    {
        Take(1, MostOfAddress);
        Take(2, MostOfAddress);
        _places.OnAdmitted("0");
        _places.OnAdmitted("1");
        Assert.True(Take(3));
        Assert.Equal([2], _aborted);
        Assert.True(Take(4));
        Assert.Equal([2, 4], _aborted);
    }

    [Fact]
    public void Where_all_were_admitted_a_newcomer_is_closed_until_one_leaves()
    {
        Take(1, MostOfAddress);
        Take(2, MostOfAddress);
        for (int i = 0; i < Most; i++)
        {
            _places.OnAdmitted($"{i}");
        }

        Assert.False(Take(3));
        Assert.Empty(_aborted);
        _places.GiveBack("5");
        Assert.True(Take(3));
    }

    [Fact]
    public void A_shortage_is_noted_with_the_addresses_that_hold_the_places_and_not_each_time()
    {
        Take(1, MostOfAddress);
        Take(2, 3);
        Take(3, 1);
        Take(4);
        Assert.Equal(
            ["The dashboard has room for 8 connections, and 4 of one address: 4 from 10.0.0.1, 3 from 10.0.0.2, 1 from 10.0.0.3. "
            + "One from 10.0.0.1 gave way to a new one."],
            _notes);
        Take(5, 100);
        Assert.InRange(_notes.Count, 8, 20);
    }

    private bool Take(byte address) => Take(address, 1);

    private bool Take(byte address, int count)
    {
        bool isTaken = true;
        for (int i = 0; i < count; i++)
        {
            int number = _next++;
            isTaken = _places.TryTake($"{number}", new IPAddress([10, 0, 0, address]), () => _aborted.Add(number));
        }

        return isTaken;
    }
}

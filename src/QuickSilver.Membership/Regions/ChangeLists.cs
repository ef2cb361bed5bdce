namespace QuickSilver.Membership.Regions;

// Lists of the changes of one configuration. They are reused, but do not keep the capacity of the largest change.
internal static class ChangeLists
{
    private const int MostIdle = 64;

    public static void Empty<T>(this List<T> list)
    {
        list.Clear();
        if (list.Capacity > MostIdle)
        {
            list.Capacity = 0;
        }
    }
}

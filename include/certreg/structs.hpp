/** @file structs.hpp
 * libcertreg for C++: what all of its headers share. certreg::error, certreg::view, and
 * the structs of certreg.h. Include certreg.hpp, which says how they are used.
 */
#ifndef CERTREG_STRUCTS_HPP
#define CERTREG_STRUCTS_HPP
#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "certreg.hpp needs C++17 (-std=c++17); for older standards use certreg.h"
#endif
#ifndef __cpp_exceptions
#error "certreg.hpp needs exceptions; without them use certreg.h"
#endif
#include "certreg/backend.h"
#include "certreg/question.h"
#include "certreg/sampling.h"
#include "certreg/solver.h"
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace certreg
{

/* ==== errors ====================================================================== */

/** What is thrown for every failure: a certreg_error (status, sample, row, output,
 *  model_code, value, text) that is a std::exception too. An index is -1 where it does
 *  not apply. Copies do not allocate. */
struct CERTREG_API error : std::exception, certreg_error {
    explicit error(const certreg_error &from) noexcept : certreg_error()
    {
        /* An older library has a shorter struct. */
        const size_t known = from.struct_size < sizeof from ? from.struct_size
                                                            : sizeof from;
        std::memcpy(static_cast<certreg_error *>(this), &from, known);
        struct_size = sizeof(certreg_error);
    }
    error(certreg_status why, const char *sentence) noexcept : certreg_error()
    {
        struct_size = sizeof(certreg_error);
        status = why;
        sample = row = output = -1;
        std::snprintf(text, sizeof text, "%s", sentence);
    }
    const char *what() const noexcept override { return text; }
};

/* ==== views ======================================================================= */

/** A pointer and a count: what a function reads (view<const float>) or fills
 *  (view<float>). Anything with data() and size() becomes one, an array, or a list such
 *  as {1, 0.5f}. It owns nothing: use it as a parameter, since a variable made from a
 *  temporary would dangle. A row of a matrix stored by columns throws CERTREG_E_INVALID
 *  where it becomes a view, if it has begin(). */
template <class T> class view
{
    /* Elements of type U lie as elements of type T do: the same, or T with nothing
     * added. */
    template <class U>
    static constexpr bool holds = std::is_convertible_v<U *, T *> &&
                                  sizeof(U) == sizeof(T);
    using value = std::remove_const_t<T>;
    /* What is filled is no container that ends with the expression. */
    template <class C>
    static constexpr bool lasts = std::is_const_v<T> ||
                                  std::is_trivially_copyable_v<C> ||
                                  std::is_lvalue_reference_v<C>;

  public:
    constexpr view() noexcept = default;
    constexpr view(T *data, size_t size) noexcept : data_(data), size_(size) {}
    constexpr view(std::initializer_list<value> list) noexcept
        : view(list.begin(), list.size())
    {
    }
    template <class U, size_t N, class = std::enable_if_t<holds<U>>>
    constexpr view(U (&array)[N]) noexcept : view(array, N)
    {
    }
    template <
        class C, class U = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
        class = decltype(std::declval<C &>().size()),
        class = std::enable_if_t<holds<U> && lasts<C>>>
    constexpr view(C &&container)
        : view(container.data(), static_cast<size_t>(container.size()))
    {
        if (!contiguous(container))
            throw error(
                CERTREG_E_INVALID,
                "the elements do not lie one after the other: copy them first");
    }
    constexpr T *data() const noexcept { return data_; }
    constexpr size_t size() const noexcept { return size_; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](size_t i) const noexcept { return data_[i]; }

  private:
    /* Whether its last element lies where it should. */
    template <class C> constexpr bool contiguous(C &container) const
    {
        if constexpr (iterates<C>(0))
            return size_ == 0 ||
                   &*(container.begin() + static_cast<ptrdiff_t>(size_ - 1)) ==
                       data_ + (size_ - 1);
        else return true;
    }
    template <class C>
    static constexpr auto iterates(int)
        -> decltype(&*(std::declval<C &>().begin() + 1), true)
    {
        return true;
    }
    template <class C> static constexpr bool iterates(long) { return false; }
    T *data_ = nullptr;
    size_t size_ = 0;
};

/* ==== structs ===================================================================== */

/** A struct of the C headers, zeroed, with its struct_size set. */
template <class T> struct sized : T {
    sized() noexcept : T() { this->struct_size = sizeof(T); }
};
using certificate = sized<certreg_certificate>;
using forecast = sized<certreg_forecast>;
using run = sized<certreg_run>;
using bounds = sized<certreg_bounds>;

/** The model's shape. eval and user are for models in C; leave them to estimator. */
struct model : sized<certreg_model> {
    model() = default;
    explicit model(size_t columns, size_t numbers = 1) noexcept
    {
        inputs = columns;
        outputs = numbers;
    }
};
struct plan : sized<certreg_plan> {
    plan() = default;
    explicit plan(size_t most_samples) noexcept { max_samples = most_samples; }
};
struct target : sized<certreg_target> {
    target() = default;
    explicit target(double wanted_radius) noexcept { radius = wanted_radius; }
};
struct serving : sized<certreg_serving> {
    serving() = default;
    serving(size_t fresh_samples, double misses) noexcept
    {
        samples = fresh_samples;
        failure_rate = misses;
    }
};
struct question : sized<certreg_question> {
    question() = default;
    explicit question(double most) noexcept { tolerance = most; }
};

/* ==== statuses and counts ========================================================= */

namespace detail
{
/* In place. Not by a function that takes the struct by value and returns it: GCC 12
 * misses, where it does not inline one, that what the struct's pointers point to can be
 * read and written elsewhere. That is its error (-fno-ipa-modref helps), in C as well.
 */
template <class T> void fill(T &copy) noexcept
{
    if (copy.struct_size == 0) copy.struct_size = sizeof(T);
}

/* The error of a handle belongs to another call if the status is CERTREG_E_BUSY. */
inline void check(certreg_status status, const certreg_error *of_handle)
{
    if (status == CERTREG_OK) return;
    if (of_handle && of_handle->status == status) throw error(*of_handle);
    throw error(status, certreg_status_text(status));
}

inline void check_count(const char *name, size_t has, size_t needs)
{
    if (has == needs) return;
    char text[160];
    std::snprintf(
        text, sizeof text, "%s has %zu elements, but needs %zu", name, has, needs);
    throw error(CERTREG_E_INVALID, text);
}

/* Rows behind a view of numbers. */
inline size_t rows_of(const char *name, size_t size, size_t columns)
{
    check_count(name, size, size / columns * columns + (size % columns ? columns : 0));
    return size / columns;
}

} // namespace detail
} // namespace certreg
#endif
